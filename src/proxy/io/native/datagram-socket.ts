// UDP sockets of associations in the native loop: bound to an address and a free port of the configured range. The relay reads one
// batch when the socket is ready, so that every socket is served.
import type { PortRange } from '../../../core/addresses/endpoints.js';
import type { Endpoint } from '../../../core/addresses/ip.js';
import type { BoundSocket } from '../datagrams.js';
import type { LocalEnd } from '../local-end.js';
import { candidatePorts } from '../local-end.js';
import type { BatchSocket } from './batch.js';
import * as c from './libc.js';
import { setWayOut } from './local-end.js';
import { type Loop, NOT_WATCHED, type Registration } from './loop.js';
import { readSockaddr, writeSockaddr } from './sockaddr.js';

/** Room for bursts while the loop is busy; the system may grant less (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** The payload of an Ethernet frame. Larger datagrams are rare, and IP fragments them. */
const MAX_SEGMENT_BYTES = 1472;

const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);

export class DatagramSocket implements BatchSocket, BoundSocket {
  readonly local: Endpoint;
  maxSegmentBytes = MAX_SEGMENT_BYTES;
  readonly #loop: Loop;
  #fd: number;
  #registration: Registration = NOT_WATCHED;

  private constructor(loop: Loop, fd: number, local: Endpoint) {
    this.#loop = loop;
    this.#fd = fd;
    this.local = local;
  }

  /**
   * A bound socket that calls `onReady` while datagrams wait, or a system error code.
   * @param range first and last port to choose from; null: the system chooses
   * @param end its address is `address`
   */
  static open(
    loop: Loop,
    address: string,
    range: PortRange | null,
    onReady: (socket: DatagramSocket) => void,
    end: LocalEnd | null = null,
  ): DatagramSocket | string {
    const { libc } = loop;
    const fd = libc.socket(address.includes(':') ? c.AF_INET6 : c.AF_INET, c.SOCK_DGRAM);
    if (fd < 0) return c.codeOf(libc.errno());
    if (address.includes(':')) libc.setOption(fd, c.IPPROTO_IPV6, c.IPV6_V6ONLY, 1);
    libc.setOption(fd, c.SOL_SOCKET, c.SO_RCVBUF, RECEIVE_BUFFER_BYTES);
    const code = (end && setWayOut(libc, fd, end)) ?? bindTo(loop, fd, address, range);
    if (code !== null) {
      libc.close(fd);
      return code;
    }
    return DatagramSocket.adopt(loop, fd, onReady);
  }

  /** The same for a socket that is bound already. */
  static adopt(loop: Loop, fd: number, onReady: (socket: DatagramSocket) => void): DatagramSocket | string {
    loop.libc.getsockname(fd, sockaddr);
    loop.own(fd);
    const socket = new DatagramSocket(loop, fd, readSockaddr(sockaddr));
    socket.#registration = loop.add(fd, c.EPOLLIN, { ready: () => onReady(socket) });
    if (socket.#registration !== NOT_WATCHED) return socket;
    socket.close();
    return 'ENOMEM';
  }

  /** -1 once it is closed. */
  get fd(): number {
    return this.#fd;
  }

  get isClosed(): boolean {
    return this.#fd === -1;
  }

  close(): void {
    if (this.#fd === -1) return;
    if (this.#registration !== NOT_WATCHED) this.#loop.remove(this.#fd, this.#registration);
    this.#loop.close(this.#fd);
    this.#fd = -1;
    this.#registration = NOT_WATCHED;
  }
}

/** Returns null when the socket is bound, or a system error code. */
function bindTo({ libc }: Loop, fd: number, address: string, range: PortRange | null): string | null {
  for (const port of candidatePorts(range)) {
    const bytes = writeSockaddr(sockaddr, { address, port });
    if (bytes === 0) return 'EADDRNOTAVAIL';
    if (libc.bind(fd, sockaddr, bytes) === 0) return null;
    const code = c.codeOf(libc.errno());
    if (code !== 'EADDRINUSE') return code;
  }
  return 'EADDRINUSE';
}
