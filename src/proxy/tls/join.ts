// Relays between a TLS connection and the data plane.
import type { Socket } from 'node:net';

/** How long one side may take to read the rest after the other has closed, in ms. */
const LINGER_MS = 10_000;

/** Relays between two streams: bytes, ends and failures. */
export function join(outside: Socket, inside: Socket): void {
  outside.pipe(inside);
  inside.pipe(outside);
  for (const [one, other] of [
    [outside, inside],
    [inside, outside],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => {
      other.end();
      other.setTimeout(LINGER_MS, () => other.destroy());
    });
  }
}
