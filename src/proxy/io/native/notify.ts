// Datagrams to a Unix socket, such as the one that a service manager names by NOTIFY_SOCKET: Node has none of its own.
import { tryOr } from '../../../core/errors.js';
import { sendDescriptor } from './carrier.js';
import { AF_UNIX, codeOf, loadLibc, SOCK_DGRAM } from './libc.js';

const NUL = 0;

export interface NotifySocket {
  /** @returns null once it is sent; else a system error code, EAGAIN when the receiver is behind */
  send(text: string): string | null;
  /** Sends a descriptor with the text. */
  sendDescriptor(text: string, fd: number): string | null;
  close(): void;
}

/**
 * Opens a socket for datagrams to `path`; one that begins with `@` is an abstract address (unix(7)).
 * @returns null where there are no direct system calls, or no descriptor
 */
export function openNotifySocket(path: string): NotifySocket | null {
  const libc = tryOr(null, loadLibc);
  if (libc === null) return null;
  const fd = libc.socket(AF_UNIX, SOCK_DGRAM);
  if (fd < 0) return null;
  const isAbstract = path.startsWith('@');
  const name = Buffer.from(path);
  if (isAbstract) name[0] = NUL;
  // The length of an abstract address is its end; a path ends with a NUL.
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), name, Buffer.alloc(isAbstract ? 0 : 1)]);
  return {
    send(text) {
      const bytes = Buffer.from(text);
      return libc.sendTo(fd, bytes, bytes.length, address, address.length) < 0 ? codeOf(libc.errno()) : null;
    },
    sendDescriptor: (text, given) => sendDescriptor(libc, fd, address, text, given),
    close: () => void libc.close(fd),
  };
}
