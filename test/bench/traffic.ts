// Measures traffic reports on many accounts and days, all of which have traffic in one of 50 games. Without a daemon.
//   npm run --silent build:program && node dist/test/bench/traffic.js [--accounts 100000] [--days 90] [--postgres] [--folder /dev/shm]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { Account } from '../../src/core/accounts/account.js';
import { groupTraffic } from '../../src/core/accounts/usage/traffic-report.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { openStore, type StoreOptions } from '../../src/store/store.js';
import { account } from '../helpers/account.js';
import { startPostgres } from '../helpers/postgres.js';
import { sqliteClient } from '../helpers/sqlite-client.js';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '100000' },
    days: { type: 'string', default: '90' },
    postgres: { type: 'boolean', default: false },
    folder: { type: 'string', default: tmpdir() },
  },
});
const ACCOUNTS = Number(values.accounts);
const DAYS = Number(values.days);
const FIRST = 20_000;
const LAST = FIRST + DAYS - 1;
const SELLER = '00000000-0000-4000-8000-000000000001';
const AT_ONCE = 5_000;
const RUNS = 3;

const folder = await mkdtemp(join(values.folder, 'pulsegate-traffic-'));
const postgres = values.postgres
  ? await startPostgres({ shared_buffers: '512MB', max_wal_size: '1GB' }, values.folder)
  : null;
try {
  await postgres?.start();
  await postgres?.query('create database traffic');
  await measure(
    postgres === null
      ? { client: sqliteClient, dataDir: folder, busyTimeoutMs: 60_000 }
      : { client: 'pg', connection: postgres.url('traffic'), dataDir: folder, poolSize: 4 },
  );
} finally {
  await postgres?.remove();
  await rm(folder, { recursive: true, force: true });
}

async function measure(options: StoreOptions): Promise<void> {
  const store = await openStore(options);
  const isPg = options.client === 'pg';
  const db = isPg
    ? connectPg(options.connection, 1)
    : connectSqlite(options.client, join(options.dataDir, 'pulsegate.db'), 60_000);
  const all: Account[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) all.push(account({ username: `player-${n}` }));
  for (let at = 0; at < ACCOUNTS; at += AT_ONCE) await store.accounts.addMany(all.slice(at, at + AT_ONCE));
  // One of a hundred accounts is a seller's.
  await db.raw(`update accounts set owner = '${SELLER}' where position % 100 = 0`);
  const empty = (await store.size()) ?? 0;
  const startedAt = performance.now();
  for (let day = FIRST; day <= LAST; day += 1) {
    await db.raw(`insert into traffic_days (account_id, day, bytes_up, bytes_down, sessions, has_parts)
      select id, ${day}, 1000000 + position, 9000000 + position, 3, 1 from accounts`);
    await db.raw(`insert into traffic_parts (account_id, day, kind, name, bytes_up, bytes_down)
      select id, ${day}, 'game', 'game-' || (position % 50), 900000, 8000000 from accounts`);
  }
  if (isPg) await db.raw('analyze');
  const bytes = ((await store.size()) ?? 0) - empty;
  const rows = ACCOUNTS * DAYS;
  print(
    `${rows} days of accounts in ${Math.round((performance.now() - startedAt) / 1_000)} s: ${Math.round(bytes / rows)} bytes each, with a game`,
  );
  const { trafficReport } = store;
  const last = (count: number) => [[LAST - count + 1, LAST]] as const;
  const byPlan = async () =>
    groupTraffic(await trafficReport.byAccount(last(DAYS)), (id) => [`plan-${id[0]}`]);
  for (const [text, ask] of [
    ['by account, one day', () => trafficReport.byAccount(last(1))],
    ['by account, 7 days', () => trafficReport.byAccount(last(7))],
    ['by account, 30 days', () => trafficReport.byAccount(last(30))],
    [`by account, ${DAYS} days`, () => trafficReport.byAccount(last(DAYS))],
    [`by plan, ${DAYS} days`, byPlan],
    [
      `by account of a seller with ${ACCOUNTS / 100}, ${DAYS} days`,
      () => trafficReport.byAccount(last(DAYS), SELLER),
    ],
    ['by game, one day', () => trafficReport.byPart('game', last(1), 0)],
    ['by game, 30 days', () => trafficReport.byPart('game', last(30), 0)],
    [`by game, ${DAYS} days`, () => trafficReport.byPart('game', last(DAYS), 0)],
  ] as const) {
    const times: number[] = [];
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = process.cpuUsage();
    for (let run = 0; run < RUNS; run += 1) {
      const from = performance.now();
      await ask();
      times.push(performance.now() - from);
    }
    delay.disable();
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1_000 / RUNS;
    const median = times.toSorted((one, other) => one - other)[1] ?? 0;
    print(
      `  ${text}: ${Math.round(median)} ms (first ${Math.round(times[0] ?? 0)}), ${Math.round(cpuMs)} ms of this process's CPU, main thread held at most ${Math.round(delay.max / 1e6)} ms`,
    );
  }
  await db.destroy();
  await store.close();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
