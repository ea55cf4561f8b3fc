// Effect of the control plane's work on players: login + CONNECT while accounts are exported, imported, listed and
// logins are searched, compared with an idle control plane.
import { setTimeout as delay } from 'node:timers/promises';
import type { TestDaemon } from '../../helpers/daemon.js';
import type { Load, Numbers } from '../load.js';
import type { LoginJob } from './logins.js';
import { AUTHORIZED, importAccounts, startWith } from './many-accounts.js';
import { type Group, OURS, type Side } from './measure.js';
import { type Part, startPart } from './parts.js';

const PLAYER = { user: 'player', password: 'secret' };
const LOGINS_PER_ACCOUNT = 5;
const SEARCHES = 20;
/** The minimal duration of a run: the work is repeated until then. */
const MIN_DURATION_MS = 6_000;

export function playersGroup(load: Load, count: number, scale: number): Group {
  const accounts = count.toLocaleString('en');
  const logins = count * LOGINS_PER_ACCOUNT;
  const minMs = MIN_DURATION_MS * Math.min(scale, 1);
  return {
    name: `players beside ${accounts} accounts`,
    async open(t) {
      const daemon = await startWith(t, count, logins);
      await daemon.addAccount(PLAYER.user, PLAYER.password);
      const target = await load.target(t);
      const part = await startPart(t, 'logins');
      const during = (name: string, work: () => Promise<unknown>): Side => ({
        name: `${OURS}, ${name}`,
        run: () => duringLogins(part, daemon, target, () => repeat(work, minMs)),
      });
      return [
        {
          name: `a player's login + CONNECT, ${accounts} accounts`,
          moreIsBetter: [],
          sides: [
            { name: 'quiet', run: () => duringLogins(part, daemon, target, () => delay(minMs)) },
            during('all exported', () => get(daemon, '/api/v1/accounts/export?format=csv')),
            during('all imported', () => importAccounts(daemon, count, 'replace')),
            during('all listed', () => get(daemon, '/ProxyAccount/GetProxyAccountList')),
            during(`${SEARCHES} searches of ${logins.toLocaleString('en')} logins`, () =>
              Promise.all(
                Array.from({ length: SEARCHES }, (_, i) =>
                  get(daemon, `/api/v1/logins?search=r${1_000 + i}`),
                ),
              ),
            ),
          ],
        },
      ];
    },
  };
}

async function repeat(work: () => Promise<unknown>, minMs: number): Promise<void> {
  const startedAt = performance.now();
  do await work();
  while (performance.now() - startedAt < minMs);
}

async function get(daemon: TestDaemon, path: string): Promise<void> {
  const response = await fetch(`${daemon.adminUrl}${path}`, { headers: AUTHORIZED });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
}

async function duringLogins(
  part: Part,
  daemon: TestDaemon,
  target: number,
  work: () => Promise<unknown>,
): Promise<Numbers> {
  const job = {
    kind: 'logins',
    port: daemon.socks.port,
    ...PLAYER,
    target,
    callers: 2,
    pauseMs: 5,
  } satisfies LoginJob;
  const result = part.run(job);
  try {
    await work();
  } finally {
    await part.run({ kind: 'stop' } satisfies LoginJob);
  }
  const { p50Ms = 0, p99Ms = 0, maxMs = 0 } = await result;
  return { 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'worst ms': maxMs };
}
