// GUIDs, and those that contain a time (UUID version 7, RFC 9562 §5.7): of runs, whose text sorts in the order of creation, and of
// sessions.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from './clock.js';

const COUNTER_BITS = 12;
const TIMED_ID = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/;

/** Returns the next GUID. It also sorts after `after`, if that is a GUID of this kind. */
type NextOrderedId = (after?: string | null) => string;

/**
 * Returns a generator of GUIDs. They strictly increase, even within a millisecond and when the clock is set back: the 12 bits of
 * rand_a are a counter (RFC 9562 §6.2 method 1), and an overflow uses the next millisecond.
 */
export function createOrderedIds(now: Clock): NextOrderedId {
  let lastMs = 0;
  let counter = 0;

  function advanceTo(id: string): void {
    const ms = timeOfId(id) ?? 0;
    const reached = Number.parseInt(id.slice(15, 18), 16);
    if (!(ms > lastMs || (ms === lastMs && reached > counter))) return;
    lastMs = ms;
    counter = reached;
  }

  return (after) => {
    if (after) advanceTo(after);
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else if (++counter >= 1 << COUNTER_BITS) {
      lastMs++;
      counter = 0;
    }
    const random = randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const tail = random.toString('hex');
    const count = counter.toString(16).padStart(3, '0');
    return timed(lastMs, `${count}-${tail.slice(0, 4)}-${tail.slice(4)}`);
  };
}

function timed(ms: number, rest: string): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest}`;
}

/** Returns a GUID from which `timeOfId` reads the time. In no order within a millisecond. @param ms since the Unix epoch */
export const createTimedId = (ms: number): string => timed(ms, randomUUID().slice(15));

/** The time in a GUID, in ms since the Unix epoch; null: it contains none. */
export function timeOfId(id: string): number | null {
  const [, high, low] = TIMED_ID.exec(id) ?? [];
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the GUID in lower case, as it is stored; null: the text is none. */
export const guidOf = (text: string): string | null => (GUID.test(text) ? text.toLowerCase() : null);
