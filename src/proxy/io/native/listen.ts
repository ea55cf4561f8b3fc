// Listening sockets in the native loop: accepts a bounded number in a turn, and handles a lack of descriptors.
import { closeSync, openSync } from 'node:fs';
import type { Endpoint } from '../../../core/addresses/ip.js';
import { tryOr } from '../../../core/errors.js';
import type { ListenOptions, ListenResult, Stream } from '../io.js';
import type { LocalEnd } from '../local-end.js';
import * as c from './libc.js';
import { setWayOut } from './local-end.js';
import { type Loop, NOT_WATCHED, type Registration, type Watcher } from './loop.js';
import { readSockaddr, writeSockaddr } from './sockaddr.js';
import { NativeStream, setKeepAlive } from './stream.js';

/** Maximum number of connections accepted in one turn, so that other sockets are served too. */
const ACCEPTS_PER_TURN = 64;
/** How long accepting pauses when the system has no memory or no descriptor for another connection, in ms. */
const RETRY_MS = 100;
const BACKLOG = 4096;

/** Accepts the connections of a listening socket, which the caller still owns. */
export class Acceptor implements Watcher {
  readonly #peer = new Uint8Array(c.SOCKADDR_BYTES);
  #registration: Registration;
  /** A descriptor kept in reserve, to accept and close a connection when there is no other left; -1: none. */
  #spare: number;
  #isClosed = false;

  constructor(
    private readonly loop: Loop,
    private readonly fd: number,
    private readonly onConnection: (stream: Stream) => void,
  ) {
    this.#spare = openSpare();
    if (this.#spare !== -1) loop.own(this.#spare);
    this.#registration = loop.add(fd, c.EPOLLIN | c.EPOLLEXCLUSIVE, this);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#registration !== NOT_WATCHED) this.loop.remove(this.fd, this.#registration, false);
    this.#registration = NOT_WATCHED;
    if (this.#spare !== -1) this.loop.close(this.#spare);
    this.#spare = -1;
  }

  ready(): void {
    const { libc } = this.loop;
    for (let accepted = 0; accepted < ACCEPTS_PER_TURN && this.#registration !== NOT_WATCHED; accepted += 1) {
      const fd = libc.accept(this.fd, this.#peer);
      if (fd >= 0) {
        this.#take(fd);
        continue;
      }
      const errno = libc.errno();
      if (errno === c.EAGAIN) return;
      if (errno === c.EINTR || errno === c.ECONNABORTED) continue;
      if (errno === c.EMFILE || errno === c.ENFILE) this.#refuseOne();
      this.#rest();
      return;
    }
  }

  #take(fd: number): void {
    this.loop.own(fd);
    const stream = new NativeStream(this.loop, fd, readSockaddr(this.#peer));
    if (stream.register()) this.onConnection(stream);
  }

  /** At the limit of descriptors: accepts one connection by the spare descriptor and closes it. Otherwise epoll would report it forever. */
  #refuseOne(): void {
    if (this.#spare === -1) return;
    closeSync(this.#spare);
    const fd = this.loop.libc.accept(this.fd, this.#peer);
    if (fd >= 0) this.loop.libc.close(fd);
    this.#spare = openSpare();
    if (this.#spare !== -1) this.loop.own(this.#spare);
  }

  /** Removes the socket from the epoll set for RETRY_MS, because epoll would report the waiting connections again at once. */
  #rest(): void {
    if (this.#registration !== NOT_WATCHED) this.loop.remove(this.fd, this.#registration, false);
    this.#registration = NOT_WATCHED;
    this.loop.timer(RETRY_MS, () => {
      if (this.#isClosed) return;
      if (this.#spare === -1) this.#spare = openSpare();
      this.#registration = this.loop.add(this.fd, c.EPOLLIN | c.EPOLLEXCLUSIVE, this);
      if (this.#registration === NOT_WATCHED) this.#rest();
    });
  }
}

/** -1: there is no descriptor left, and accepting pauses until there is one. */
const openSpare = (): number => tryOr(-1, () => openSync('/dev/null', 'r'));

/** Opens a listening socket for one IP address. Accepted connections inherit its options (tcp(7)). */
export function openListener(
  libc: c.Libc,
  { address, port }: Endpoint,
  options: { readonly isDualStack?: boolean; readonly end?: LocalEnd | undefined } = {},
): { readonly fd: number; readonly local: Endpoint } | { readonly code: string } {
  const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);
  const bytes = writeSockaddr(sockaddr, { address, port });
  if (bytes === 0) return { code: 'EADDRNOTAVAIL' };
  const isIpv6 = address.includes(':');
  const fd = libc.socket(isIpv6 ? c.AF_INET6 : c.AF_INET, c.SOCK_STREAM);
  if (fd < 0) return { code: c.codeOf(libc.errno()) };
  libc.setOption(fd, c.SOL_SOCKET, c.SO_REUSEADDR, 1);
  if (isIpv6) libc.setOption(fd, c.IPPROTO_IPV6, c.IPV6_V6ONLY, options.isDualStack === true ? 0 : 1);
  setInherited(libc, fd);
  const refused = options.end === undefined ? null : setWayOut(libc, fd, options.end);
  if (refused !== null) {
    libc.close(fd);
    return { code: refused };
  }
  if (libc.bind(fd, sockaddr, bytes) !== 0 || libc.listen(fd, BACKLOG) !== 0) {
    const code = c.codeOf(libc.errno());
    libc.close(fd);
    return { code };
  }
  libc.getsockname(fd, sockaddr);
  return { fd, local: readSockaddr(sockaddr) };
}

/** Sets the options that accepted connections inherit (tcp(7)). */
function setInherited(libc: c.Libc, fd: number): void {
  libc.setOption(fd, c.IPPROTO_TCP, c.TCP_NODELAY, 1);
  setKeepAlive(libc, fd);
}

/**
 * Prepares a listening socket that another program opened.
 * @returns its address (null: a Unix socket), or a system error code when it cannot be used
 */
export function adoptListener(
  libc: c.Libc,
  fd: number,
): { readonly local: Endpoint | null } | { readonly code: string } {
  if (libc.getOption(fd, c.SOL_SOCKET, c.SO_ACCEPTCONN) !== 1) return { code: 'EINVAL' };
  const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);
  if (libc.setNonBlocking(fd) < 0 || libc.getsockname(fd, sockaddr) !== 0)
    return { code: c.codeOf(libc.errno()) };
  const local = readSockaddr(sockaddr);
  if (local.address === '') return { local: null };
  setInherited(libc, fd);
  return { local };
}

/** Opens a listening Unix socket (unix(7)). */
export function openUnixListener(
  libc: c.Libc,
  path: string,
): { readonly fd: number } | { readonly code: string } {
  const name = Buffer.from(path);
  const sockaddr = new Uint8Array(2 + name.length + 1);
  sockaddr[0] = c.AF_UNIX;
  sockaddr.set(name, 2);
  const fd = libc.socket(c.AF_UNIX, c.SOCK_STREAM);
  if (fd < 0) return { code: c.codeOf(libc.errno()) };
  if (libc.bind(fd, sockaddr, sockaddr.length) === 0 && libc.listen(fd, BACKLOG) === 0) return { fd };
  const code = c.codeOf(libc.errno());
  libc.close(fd);
  return { code };
}

function handedListener({ libc }: Loop, fd: number): { readonly fd: number; readonly local: Endpoint } {
  const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);
  libc.getsockname(fd, sockaddr);
  return { fd, local: readSockaddr(sockaddr) };
}

/** Opens a listening socket and accepts its connections in this loop; for BIND. */
export function listenHere(
  loop: Loop,
  { onConnection, end, fd: handed, ...where }: ListenOptions,
): ListenResult {
  const opened =
    handed === undefined ? openListener(loop.libc, where, { end }) : handedListener(loop, handed);
  if ('code' in opened) return { ok: false, code: opened.code };
  const { fd, local } = opened;
  loop.own(fd);
  const acceptor = new Acceptor(loop, fd, onConnection);
  let isOpen = true;
  return {
    ok: true,
    local,
    fd,
    close() {
      if (!isOpen) return;
      isOpen = false;
      acceptor.close();
      loop.close(fd);
    },
  };
}
