// What a player notices of the control plane's work: login + CONNECT while accounts are exported, imported, listed and
// logins are searched, beside the same on the daemon when nothing else happens.
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
/** How long players log in, at least: the work is done again until then. */
const FOR_MS = 6_000;

export function playersGroup(load: Load, count: number, scale: number): Group {
  const accounts = count.toLocaleString('en');
  const logins = count * LOGINS_PER_ACCOUNT;
  const forMs = FOR_MS * Math.min(scale, 1);
  return {
    name: `players beside ${accounts} accounts`,
    async open(t) {
      const daemon = await startWith(t, count, logins);
      await daemon.addAccount(PLAYER.user, PLAYER.password);
      const target = await load.target(t);
      const part = await startPart(t, 'logins');
      const beside = (what: string, work: () => Promise<unknown>): Side => ({
        name: `${OURS}, ${what}`,
        run: () => duringLogins(part, daemon, target, () => again(work, forMs)),
      });
      return [
        {
          name: `a player's login + CONNECT, ${accounts} accounts`,
          moreIsBetter: [],
          sides: [
            { name: 'quiet', run: () => duringLogins(part, daemon, target, () => delay(forMs)) },
            beside('all exported', () => get(daemon, '/api/v1/accounts/export?format=csv')),
            beside('all imported', () => importAccounts(daemon, count, 'replace')),
            beside('all listed', () => get(daemon, '/ProxyAccount/GetProxyAccountList')),
            beside(`${SEARCHES} searches of ${logins.toLocaleString('en')} logins`, () =>
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

async function again(work: () => Promise<unknown>, forMs: number): Promise<void> {
  const startedAt = performance.now();
  do await work();
  while (performance.now() - startedAt < forMs);
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
  const result = part.ask(job);
  try {
    await work();
  } finally {
    await part.ask({ kind: 'stop' } satisfies LoginJob);
  }
  const { p50Ms = 0, p99Ms = 0, maxMs = 0 } = await result;
  return { 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'worst ms': maxMs };
}
