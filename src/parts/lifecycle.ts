// The end of a daemon: sessions get their time, and no more; then every part stops.
import type { Log } from '../core/log.js';
import type { SessionRegistry } from '../core/sessions/session.js';

/** How long after a stop a session has to be over before the rest is cut, once it has been told to end, in ms. */
const END_GRACE_MS = 1_000;

/** Waits until no session is left; after `graceMs` ends those that are. */
export async function sessionsOver(sessions: SessionRegistry, graceMs: number): Promise<void> {
  const until = Date.now() + graceMs;
  while (sessions.size > 0 && Date.now() < until) await pause(Math.min(50, graceMs));
  sessions.endAll('shutdown');
  const cutAt = Date.now() + END_GRACE_MS;
  while (sessions.size > 0 && Date.now() < cutAt) await pause(10);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How to stop one part of the daemon. */
export interface Part {
  /** For the log. */
  readonly name: string;
  /** Rejects when it did not end in order or could not write what it still had. */
  readonly stop: () => void | Promise<void>;
}

/**
 * Stops one part. One that fails, or takes longer than `limitMs`, is logged; what it is at then goes on, unwatched.
 * @returns whether it stopped in order; never rejects
 */
export async function stopPart({ name, stop }: Part, limitMs: number, log: Log): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, limitMs, 'late');
  });
  try {
    const outcome = await Promise.race([Promise.resolve(stop()).then(() => 'stopped' as const), late]);
    if (outcome === 'stopped') return true;
    log.error({ part: name, limitMs }, 'a part of the daemon did not stop in time');
  } catch (error) {
    log.error({ part: name, err: error }, 'a part of the daemon did not stop in order');
  } finally {
    clearTimeout(timer);
  }
  return false;
}

/**
 * Stops the parts in the reverse order of their start, each whatever becomes of the others.
 * @param limitMs longest for each
 * @returns whether all stopped in order; never rejects
 */
export async function stopAll(started: readonly Part[], limitMs: number, log: Log): Promise<boolean> {
  let isInOrder = true;
  for (const part of [...started].reverse()) {
    if (!(await stopPart(part, limitMs, log))) isInOrder = false;
  }
  return isInOrder;
}
