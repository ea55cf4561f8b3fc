// What accounts cost: logins of one of many accounts, and the memory and the start of a daemon that has them. The peers have one user.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword } from '../../../src/core/accounts/access/password.js';
import { connectSqlite } from '../../../src/store/sqlite/connect.js';
import { openStore } from '../../../src/store/store.js';
import { account } from '../../helpers/account.js';
import { keptDataDir, NO_GUARD, startTestDaemon } from '../../helpers/daemon.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';
import type { Scope } from '../../helpers/suite.js';
import { inScope } from '../api/measure.js';
import type { Load, Numbers } from '../load.js';
import { cpuSeconds, memoryBytes } from '../processes.js';
import type { Server } from '../servers.js';

const USER = 'player';
const PASSWORD = 'secret';
const CONNECTIONS = 5_000;
/** Rows that one statement adds. */
const AT_ONCE = 10_000;

/** Returns a data folder with accounts of the names `player0`, `player1`, …, all with the same password. */
async function folderOf(t: Scope, count: number): Promise<string> {
  const dataDir = await keptDataDir(t);
  const store = await openStore({ client: sqliteClient, dataDir, busyTimeoutMs: 60_000 });
  await store.accounts.addMany([account({ username: `${USER}0`, passwordHash: hashPassword(PASSWORD) })]);
  await store.close();
  const db = connectSqlite(sqliteClient, join(dataDir, 'pulsegate.db'), 60_000);
  const columns: { name: string }[] = await db.raw('pragma table_info(accounts)');
  const copied = columns
    .map(({ name }) => name)
    .filter((name) => !['position', 'id', 'username', 'created_at'].includes(name));
  const guid =
    "lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-8' || substr(h, 18, 3) || '-' || substr(h, 21, 12))";
  for (let from = 1; from < count; from += AT_ONCE) {
    const to = Math.min(count, from + AT_ONCE) - 1;
    await db.raw(`insert into accounts (id, username, created_at, ${copied.join(', ')})
      with recursive numbers(n) as (select ${from} union all select n + 1 from numbers where n < ${to}),
      random(n, h) as materialized (select n, hex(randomblob(16)) from numbers)
      select ${guid}, '${USER}' || n, one.created_at + n, ${copied.map((name) => `one.${name}`).join(', ')}
      from random, accounts one where one.username = '${USER}0'`);
  }
  await db.destroy();
  return dataDir;
}

/**
 * Starts a daemon with so many accounts, and calls `add` for each of the runs.
 * @param settleMs how long it is left alone before its memory is read: what the start needed is given back within two minutes
 */
export async function measureAccounts(
  t: Scope,
  load: Load,
  count: number,
  { repeats, settleMs }: { readonly repeats: number; readonly settleMs: number },
  add: (numbers: Numbers) => void,
): Promise<void> {
  const dataDir = await folderOf(t, count);
  const startedAt = performance.now();
  const config = { controlPlaneNice: 5, guard: NO_GUARD, socks: { engine: 'native' } };
  const { pid, socks } = await startTestDaemon(t, { dataDir, config });
  const readyMs = performance.now() - startedAt;
  const peak = peakMiB(pid);
  await delay(settleMs);
  const memory = {
    'ready ms': readyMs,
    'MiB at most': peak,
    'MiB anonymous': memoryBytes(pid, 'Pss_Anon') / 2 ** 20,
  };
  const server = { pid, proxyPort: socks.port, user: USER, password: PASSWORD };
  const options = ['-a', String(count)];
  // The first run compiles the daemon's code and makes the first login of each account.
  await inScope((run) => measureLogins(run, load, server, options));
  for (let i = 0; i < repeats; i += 1) {
    const numbers = await inScope((run) => measureLogins(run, load, server, options));
    add({ ...numbers, ...memory });
  }
}

/** Connections that log in, as in the measure of the table. */
export async function measureLogins(
  t: Scope,
  load: Load,
  server: Pick<Server, 'pid' | 'proxyPort' | 'user' | 'password'>,
  options: readonly string[] = [],
): Promise<Numbers> {
  const target = await load.target(t);
  const before = cpuSeconds(server.pid);
  const result = await load.run('rate', server, target, ['-n', String(CONNECTIONS), '-c', '32', ...options]);
  if (result['failed'] !== 0) throw new Error(`${result['failed']} connections failed`);
  return {
    'connections/s': result['connectionsPerSecond'] ?? 0,
    'CPU µs each': ((cpuSeconds(server.pid) - before) / CONNECTIONS) * 1e6,
    'p99 ms': (result['p99Us'] ?? 0) / 1000,
  };
}

/** The most memory that a process has had. */
function peakMiB(pid: number): number {
  const [, kB] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kB) / 1024;
}
