// Sets the expiry of accounts that wait for their first login. A login while the database cannot be written counts from its own time.
// An account that is used while it is told to wait need not log in again: its days begin at once.
import { SECOND_MS } from '../../core/time/clock.js';
import type { PartDeps } from '../core.js';
import { createTasks } from '../lifecycle.js';

/** Time until a failed write is tried again, in ms. */
const RETRY_MS = SECOND_MS;

export type FirstLoginsPart = ReturnType<typeof createFirstLoginsPart>;

export function createFirstLoginsPart(deps: PartDeps<never, 'accounts' | 'directory' | 'sessions'>) {
  const {
    core: { accounts, directory, sessions },
    log,
    now,
  } = deps;
  const tasks = createTasks(log);
  /** Times of first logins whose expiry is not stored yet, by account id. */
  const waiting = new Map<string, number>();

  async function write(id: string, at: number): Promise<void> {
    await accounts.firstLogin(id, at);
    waiting.delete(id);
  }

  async function writeAll(): Promise<void> {
    for (const [id, at] of waiting) await write(id, at);
  }

  function loggedIn(id: string, at: number): void {
    if (waiting.has(id) || directory.byId(id)?.daysFromFirstLogin == null) return;
    waiting.set(id, at);
    // The task below tries again, and reports a failure. The account may have no other login: a session can last for months.
    write(id, at).catch(() => undefined);
  }

  directory.onChanged(({ id, after }) => {
    if (after?.daysFromFirstLogin != null && sessions.ofAccount(id).length > 0) loggedIn(id, now());
  });

  return {
    name: 'first logins',
    /** @param at time of the login, in ms since the epoch */
    loggedIn,
    start() {
      tasks.every(RETRY_MS, 'expiry at first login', writeAll);
    },
    async stop() {
      await tasks.stop();
      await writeAll();
    },
  };
}
