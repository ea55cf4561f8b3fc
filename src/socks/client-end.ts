// Who is at the other end of an accepted connection: its peer, or whom a PROXY header names.
import type { Socket } from 'node:net';
import { normalizeAddress } from '../core/ip.js';

/** An address with IPv4-mapped IPv6 as IPv4, and a port. */
export interface ClientEnd {
  readonly address: string;
  readonly port: number;
}

/** What clients of a Unix socket are called: they have no address. */
export const UNIX_CLIENT = 'unix';

const CLIENT_END = Symbol('client end');

interface MarkedSocket extends Socket {
  [CLIENT_END]?: ClientEnd;
}

/** The client's own address and port, which are not the peer's when a proxy has told whom it speaks for. */
export function clientEnd(socket: Socket): ClientEnd {
  return (socket as MarkedSocket)[CLIENT_END] ?? peerEnd(socket);
}

/** The client's own address, see `clientEnd`. */
export function clientAddress(socket: Socket): string {
  return clientEnd(socket).address;
}

/** The peer of the connection itself; its address is empty when the connection is gone. */
export function peerEnd(socket: Socket): ClientEnd {
  const { remoteAddress = '', remotePort } = socket;
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice('::ffff:'.length) : remoteAddress;
  return { address, port: remotePort ?? 0 };
}

/** The address that the client's datagrams come from, as far as its connection tells: without a zone, unmapped. */
export function datagramAddress({ address }: ClientEnd): string {
  return address === UNIX_CLIENT ? '127.0.0.1' : normalizeAddress(address);
}

/** A trusted proxy has said for whom this connection is, or it came over a Unix socket. */
export function setClientEnd(socket: Socket, end: ClientEnd): void {
  (socket as MarkedSocket)[CLIENT_END] = end;
}

/** Whether the client is not the peer of a TCP connection. */
export function isProxied(socket: Socket): boolean {
  return (socket as MarkedSocket)[CLIENT_END] !== undefined;
}
