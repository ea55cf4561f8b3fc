// Identifiers of runs: GUIDs whose text sorts in the order they were made (UUID version 7, RFC 9562 §5.7).
import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.js';

const COUNTER_BITS = 12;

/**
 * Returns a maker of GUIDs. Those of one maker strictly increase, even within a millisecond and when the clock
 * steps back: the 12 bits of rand_a are a counter (RFC 9562 §6.2 method 1), and an overflow borrows the next millisecond.
 */
export function createOrderedIds(now: Clock): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else if (++counter >= 1 << COUNTER_BITS) {
      lastMs++;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const version = (0x7000 | counter).toString(16);
    const random = randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const tail = random.toString('hex');
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}
