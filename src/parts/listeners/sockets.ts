// The listening sockets of the main thread: opened here, or taken from the process before (handover), and handed to the one after.
import { chmodSync, rmSync } from 'node:fs';
import type { Endpoint } from '../../core/addresses/ip.js';
import type { Libc } from '../../proxy/io/native/libc.js';
import { adoptListener, openListener, openUnixListener } from '../../proxy/io/native/listen.js';
import type { GivenSocket } from '../../systemd/sockets.js';

/** A socket as it was asked for. A port of 0 was chosen by the system. */
export interface SocketRecord extends Endpoint {
  /** The configuration key of the listener: `socks`, `admin`; of a socket from systemd, `given` and its use. */
  readonly name: string;
  readonly isDualStack: boolean;
}

/** Its index in the descriptors that are handed over. */
export type HandedSocket = SocketRecord & { readonly index: number };

export type OpenedSocket = { readonly fd: number; readonly local: Endpoint } | { readonly code: string };

const GIVEN = 'given ';

export class ListeningSockets {
  readonly #libc: Libc;
  readonly #open = new Map<number, SocketRecord>();
  readonly #handed: Map<number, SocketRecord>;
  #isHandingOver = false;

  /** @param handed from the process before, by descriptor */
  constructor(libc: Libc, handed: ReadonlyMap<number, SocketRecord> = new Map()) {
    this.#libc = libc;
    this.#handed = new Map(handed);
  }

  /** The sockets of systemd that the process before had. */
  get given(): GivenSocket[] {
    return [...this.#handed].flatMap(([fd, { name }]) =>
      name.startsWith(GIVEN) ? [{ fd, use: name.endsWith('admin') ? 'admin' : 'socks' } as const] : [],
    );
  }

  openTcp(record: SocketRecord): OpenedSocket {
    return this.#take(record, () => openListener(this.#libc, record, record));
  }

  /** @param mode of the file; users with write permission can connect */
  openPath(name: string, path: string, mode: number): OpenedSocket {
    const opened = this.#take({ name, address: path, port: 0, isDualStack: false }, () => {
      // No process may connect before chmod sets the permissions.
      const umask = process.umask(0o777);
      const unix = openUnixListener(this.#libc, path);
      process.umask(umask);
      return 'code' in unix ? unix : { fd: unix.fd, local: { address: path, port: 0 } };
    });
    if (!('code' in opened)) chmodSync(path, mode);
    return opened;
  }

  /** Hands a socket of systemd over too. Another execution of the program does not get it from systemd again. */
  keepGiven({ fd, use }: GivenSocket): void {
    this.#handed.delete(fd);
    this.#open.set(fd, { name: `${GIVEN}${use}`, address: '', port: 0, isDualStack: false });
  }

  /** Another descriptor of the socket, for a server that closes its own. */
  dup(fd: number): number {
    return this.#libc.dup(fd);
  }

  /** Closes the socket and removes its file, unless it is handed over. */
  close(fd: number): void {
    const record = this.#open.get(fd);
    if (record === undefined || this.#isHandingOver) return;
    this.#open.delete(fd);
    this.#libc.close(fd);
    if (record.address.startsWith('/')) rmSync(record.address, { force: true });
  }

  /** Closes the handed sockets that the configuration no longer has. Call it when all listeners are open. */
  closeUnused(): void {
    this.#closeHanded(() => true);
  }

  /** From now on nothing is closed: what is open belongs to the next process. */
  handOver(): { readonly sockets: HandedSocket[]; readonly descriptors: number[] } {
    this.#isHandingOver = true;
    const descriptors = [...this.#open.keys()];
    return { descriptors, sockets: [...this.#open.values()].map((record, index) => ({ ...record, index })) };
  }

  #take(record: SocketRecord, open: () => OpenedSocket): OpenedSocket {
    let opened = this.#takeHanded(record) ?? open();
    // A handed socket with another address may have the port: `0.0.0.0` instead of `127.0.0.1`.
    if ('code' in opened && opened.code === 'EADDRINUSE') {
      if (this.#closeHanded(({ port }) => port === record.port && port !== 0)) opened = open();
    }
    if (!('code' in opened)) this.#open.set(opened.fd, { ...record, port: opened.local.port });
    return opened;
  }

  #takeHanded(record: SocketRecord): OpenedSocket | null {
    for (const [fd, handed] of this.#handed) {
      const isSame = handed.address === record.address && handed.isDualStack === record.isDualStack;
      const isWanted = record.port === 0 ? handed.name === record.name : handed.port === record.port;
      if (!isSame || !isWanted) continue;
      this.#handed.delete(fd);
      const adopted = adoptListener(this.#libc, fd);
      if (!('code' in adopted)) return { fd, local: adopted.local ?? record };
      this.#libc.close(fd);
    }
    return null;
  }

  #closeHanded(isClosed: (record: SocketRecord) => boolean): boolean {
    let hasClosed = false;
    for (const [fd, record] of this.#handed) {
      if (!isClosed(record)) continue;
      this.#handed.delete(fd);
      this.#libc.close(fd);
      if (record.address.startsWith('/')) rmSync(record.address, { force: true });
      hasClosed = true;
    }
    return hasClosed;
  }
}
