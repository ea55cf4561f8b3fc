// A node:dgram socket bound as associations need it: to an address, and to a free port of the configured range.
import { createSocket, type Socket } from 'node:dgram';
import type { PortRange } from '../../../core/endpoints.js';
import { candidatePorts } from '../candidate-ports.js';
import { codeOf } from './stream.js';

/** Room for bursts while the event loop is busy; the system may grant less (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

/**
 * A bound socket, or a system error code.
 * @param range first and last port to choose from; null: the system chooses
 */
export function openSocket(address: string, range: PortRange | null): Socket | string {
  for (const port of candidatePorts(range)) {
    const result = bindSocket(address, port);
    if (result !== 'EADDRINUSE') return result;
  }
  return 'EADDRINUSE';
}

function bindSocket(address: string, port: number): Socket | string {
  let failed: string | null = null;
  const socket = createDatagramSocket(address, RECEIVE_BUFFER_BYTES);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed ??= codeOf(error);
  });
  // Without a lookup `bind` is synchronous.
  socket.bind({ address, port, exclusive: true });
  if (failed === null) return socket;
  closeSocket(socket);
  return failed;
}

function createDatagramSocket(address: string, recvBufferSize?: number): Socket {
  const isV6 = address.includes(':');
  return createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    ipv6Only: isV6,
    recvBufferSize,
    // Every host is an IP address here; dns.lookup would delay each datagram by a turn of the event loop.
    lookup: (host, family, done) => done(null, host, Number(family)),
  });
}

/** Closes the socket; datagrams that still arrive are not reported. */
export function closeSocket(socket: Socket): void {
  socket.removeAllListeners('message');
  socket.close();
}

/** The local address that a connection to `address` would use, by the routing table; null when there is no route. */
export function sourceAddressFor(address: string, done: (source: string | null) => void): void {
  const socket = createDatagramSocket(address);
  const finish = (source: string | null): void => {
    socket
      .removeAllListeners('error')
      .on('error', () => {})
      .close();
    done(source);
  };
  socket.once('error', () => finish(null));
  // Connecting a UDP socket sends nothing; the port does not matter.
  socket.connect(9, address, () => finish(socket.address().address));
}
