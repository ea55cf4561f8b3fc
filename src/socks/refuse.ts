// The one way to turn a client away: send the last frame, let it arrive, and give the socket back.
import type { Socket } from 'node:net';

/** How long a refused client may take to close its side before the socket is destroyed, in ms. */
const LINGER_MS = 1_000;

/**
 * Sends `frame` and closes. What the client still sends is read and dropped until it closes too, because closing
 * over unread bytes makes the kernel send a reset, and a reset can overtake the frame.
 */
export function refuse(client: Socket, frame: Uint8Array): void {
  if (client.destroyed) return;
  client.removeAllListeners('data');
  const linger = setTimeout(() => client.destroy(), LINGER_MS);
  client.once('end', () => client.destroy());
  client.once('close', () => clearTimeout(linger));
  client.end(frame);
  client.resume();
}
