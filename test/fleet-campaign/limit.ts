// An account with maxSessions 3, used from eight addresses at once, which haproxy distributes over the nodes.
import { setTimeout as pause } from 'node:timers/promises';
import { type Load, type Player, play } from './players.js';

export const MAX_SESSIONS = 3;

export const LIMITED: readonly Player[] = Array.from({ length: 8 }, (_, n) => ({
  username: 'limited',
  password: 'secret',
  from: `127.0.2.${n * 17 + 1}`,
}));

/** Time after which every node knows that sessions have ended. */
const BETWEEN_MS = 3_000;

export async function keepTryingLimit(load: Load): Promise<void> {
  const { ledger } = load;
  while (!load.isOver()) {
    const startedAt = Date.now();
    const attempts = await Promise.allSettled(LIMITED.map((player) => play(load, player)));
    const open = attempts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    ledger.count('logins sent', attempts.length);
    ledger.count('logins answered', attempts.length);
    const isCalm = !ledger.wasDisturbed('players', startedAt) && !ledger.wasDisturbed('changes', startedAt);
    ledger.count(
      `maxSessions ${MAX_SESSIONS}, ${isCalm ? 'calm' : 'during faults'}: ${open.length} sessions at once`,
    );
    if (isCalm && open.length > MAX_SESSIONS)
      ledger.breach(`${open.length} sessions at once of an account with maxSessions ${MAX_SESSIONS}`);
    for (const client of open) client.destroy();
    await pause(BETWEEN_MS);
  }
}
