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

/** Stops one part of the daemon. */
export type Undo = () => void | Promise<void>;

/** Stops the parts in the reverse order of their start. One that fails is logged and does not keep the others from it. */
export async function stopAll(started: readonly Undo[], log: Log): Promise<void> {
  for (const undo of [...started].reverse()) {
    try {
      await undo();
    } catch (error) {
      log.error({ err: error }, 'a part of the daemon did not stop in order');
    }
  }
}
