// GUIDs: those whose text sorts in the order of creation (UUID version 7, RFC 9562 §5.7), such as those of accounts and runs, so that a
// database adds them at the end of its indexes; and those of sessions, which end with a time (version 8, §5.8), so that their first digits
// tell one from another.
import { randomUUID } from 'node:crypto';
import type { Clock } from './time/clock.js';

const COUNTER_BITS = 12;
const ORDERED_ID = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-/;
const TIMED_ID = /-8[0-9a-f]{3}-[0-9a-f]{4}-([0-9a-f]{12})$/;

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
    const [, high = '', low = '', count = ''] = ORDERED_ID.exec(id) ?? [];
    const ms = Number.parseInt(high + low, 16);
    const reached = Number.parseInt(count, 16);
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
    const time = lastMs.toString(16).padStart(12, '0');
    const version = (0x7000 | counter).toString(16);
    // The end of a random one has the bits of the variant, and Node makes these in stock.
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}${randomUUID().slice(18)}`;
  };
}

let lastTime = { ms: -1, text: '' };

/** Returns a GUID from which `timeOfId` reads the time. @param ms since the Unix epoch */
export function createTimedId(ms: number): string {
  const random = randomUUID();
  // Writing a time costs more than the GUID, and many sessions of a busy daemon have the same.
  if (ms !== lastTime.ms) lastTime = { ms, text: ms.toString(16).padStart(12, '0') };
  return `${random.slice(0, 14)}8${random.slice(15, 24)}${lastTime.text}`;
}

/** The time in a GUID of `createTimedId`, in ms since the Unix epoch; null: it contains none. */
export function timeOfId(id: string): number | null {
  const time = TIMED_ID.exec(id)?.[1];
  return time === undefined ? null : Number.parseInt(time, 16);
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the GUID in lower case, as it is stored; null: the text is none. */
export const guidOf = (text: string): string | null => (GUID.test(text) ? text.toLowerCase() : null);
