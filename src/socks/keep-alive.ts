// TCP keepalive: how a peer that is gone without a word is noticed.
import type { Socket } from 'node:net';

/** Probes begin after so long without a packet, in ms. */
const IDLE_MS = 60_000;

/** Turns it on. It takes four system calls, so only for connections that have lasted for a moment. */
export function keepAlive(socket: Socket): void {
  socket.setKeepAlive(true, IDLE_MS);
}
