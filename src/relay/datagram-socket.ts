// A node:dgram socket bound as associations need it: to an address, and to a free port of the configured range.
import { createSocket, type Socket } from 'node:dgram';

/** Room for bursts while the event loop is busy; the system may grant less (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

/**
 * A bound socket, or the system error code that says why there is none.
 * @param range first and last port to choose from; null leaves it to the system
 * @param random a number from 0 up to 1
 */
export function openSocket(
  address: string,
  range: readonly [number, number] | null,
  random: () => number,
): Socket | string {
  if (range === null) return bindSocket(address, 0);
  const [first, last] = range;
  const size = last - first + 1;
  // A port that is hard to guess keeps strangers from finding the client's side.
  const start = Math.floor(random() * size);
  let result: Socket | string = 'EADDRINUSE';
  for (let i = 0; i < size; i += 1) {
    result = bindSocket(address, first + ((start + i) % size));
    if (result !== 'EADDRINUSE') break;
  }
  return result;
}

function bindSocket(address: string, port: number): Socket | string {
  let failed: string | null = null;
  const isV6 = address.includes(':');
  const socket = createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    ipv6Only: isV6,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Every address is an address already: dns.lookup would cost each datagram a turn of the event loop.
    lookup: (host, family, done) => done(null, host, Number(family)),
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed ??= error.code ?? 'UNKNOWN';
  });
  // With such a lookup `bind` is done, or has failed, when it returns.
  socket.bind({ address, port, exclusive: true });
  if (failed === null) return socket;
  closeSocket(socket);
  return failed;
}

/** Nothing that still arrives is heard. */
export function closeSocket(socket: Socket): void {
  socket.removeAllListeners('message');
  socket.close();
}
