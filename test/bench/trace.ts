// Measures traces on many records of sessions: time of searches, cost of writing, size on disk. Without a daemon.
//   npm run --silent build:program && node dist/test/bench/trace.js --rows 30000000 [--postgres] [--folder /dev/shm]
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Knex } from 'knex';
import { parseCidr, sortableRange } from '../../src/core/addresses/ip.js';
import {
  addressOf,
  type SessionEntry,
  type SessionRecord,
  type TraceQuestion,
} from '../../src/core/trace/session-record.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { openStore, type StoreOptions } from '../../src/store/store.js';
import { startPostgres } from '../helpers/postgres.js';
import { sqliteClient } from '../helpers/sqlite-client.js';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    postgres: { type: 'boolean', default: false },
    folder: { type: 'string', default: tmpdir() },
  },
});
const ROWS = Number(values.rows);
const DAYS_MS = Number(values.days) * 86_400_000;
const START = Date.UTC(2031, 0, 1);
const CHUNK = 500_000;
const BATCH = 5_000;
const MINUTE = 60_000;

const folder = await mkdtemp(join(values.folder, 'pulsegate-trace-'));
const postgres = values.postgres
  ? await startPostgres({ shared_buffers: '512MB', max_wal_size: '1GB' }, values.folder)
  : null;
try {
  if (postgres !== null) {
    await postgres.start();
    await postgres.query('create database traces');
  }
  await measure(
    postgres === null
      ? { client: sqliteClient, dataDir: folder, busyTimeoutMs: 60_000 }
      : { client: 'pg', connection: postgres.url('traces'), dataDir: folder, poolSize: 4 },
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
  const empty = (await store.size()) ?? 0;
  const filled = await timed(() => fill(db, isPg));
  if (isPg) await db.raw('analyze session_records');
  const bytes = ((await store.size()) ?? 0) - empty;
  print(
    `${ROWS} records over ${values.days} days in ${Math.round(filled.ms / 1_000)} s: ${Math.round(bytes / ROWS)} bytes each`,
  );

  const { sessionRecords } = store;
  const searches = async (text: string, search: () => Promise<readonly unknown[]>): Promise<void> => {
    const runs: number[] = [];
    let found = 0;
    for (let i = 0; i < 5; i += 1) {
      const { ms, result } = await timed(search);
      runs.push(ms);
      found = result.filter((each) => each !== undefined).length;
    }
    const median = runs.toSorted((one, other) => one - other)[2] ?? 0;
    print(`  ${text}: ${median.toFixed(1)} ms (first ${runs[0]?.toFixed(1)} ms), ${found} found`);
  };
  for (const [text, question] of questions())
    await searches(text, async () => {
      const [items] = await Promise.all([
        sessionRecords.search(question, null, 101),
        sessionRecords.unmatched(question),
        sessionRecords.oldest(),
      ]);
      return items;
    });
  for (const [text, where] of [
    ['connections', { protocol: 'tcp' }],
    ['associations of up to 10 minutes', { protocol: 'udp', span: 0 }],
    ['associations of up to 6 hours', { protocol: 'udp', span: 1 }],
    ['associations of up to 3 days', { protocol: 'udp', span: 2 }],
  ] as const) {
    const entries = await entriesOf(db, where);
    await searches(`the records of ${entries.length} entries of ${text}`, () =>
      sessionRecords.ofEntries(entries),
    );
  }

  let number = 0;
  const writing = async (text: string): Promise<void> => {
    const { ms } = await timed(async () => {
      for (let i = 0; i < 10; i += 1) {
        const records = Array.from({ length: BATCH }, record);
        await sessionRecords.write({ records, ends: [], gap: null }, ++number);
        const ends = records.map(({ session }) => ({
          session,
          endedAt: Date.now() + MINUTE,
          bytesUp: 1,
          bytesDown: 2,
        }));
        await sessionRecords.write({ records: [], ends, gap: null }, ++number);
      }
    });
    print(
      `  ${text}: ${((1_000 * ms) / (10 * BATCH)).toFixed(1)} µs a session, written at its start and at its end`,
    );
  };
  await writing('writing');
  if (!isPg) {
    await db.raw('create index session_records_by_address on session_records (address, port, started_at)');
    await writing('writing with another index, by address, port and start');
    const wide = ((await store.size()) ?? 0) - empty;
    print(`  that index: ${Math.round((wide - bytes) / ROWS)} bytes a record`);
  }
  await db.destroy();
  await store.close();
}

/** The last entries of as many sessions, from all days. */
async function entriesOf(db: Knex, where: object): Promise<SessionEntry[]> {
  const rows = await db('session_records')
    .where(where)
    .whereRaw(`id % ${Math.max(1, Math.round(ROWS / 50_000))} < 3`)
    .limit(20_000);
  const step = Math.ceil(rows.length / 100);
  return rows
    .filter((_, i) => i % step === 0)
    .map((row: Readonly<Record<string, string>>) => ({
      sessionId: row['session'] ?? '',
      destination: `${row['host'] || addressOf(row['address'] ?? '')}:${row['port']}`,
      protocol: row['protocol'] as SessionEntry['protocol'],
      at: Number(row['ended_at']),
    }));
}

/** Rows with the same values on both databases: 90 % of the sessions are short, one of a thousand lasts days. */
async function fill(db: Knex, isPg: boolean): Promise<void> {
  if (isPg) await db.raw('set statement_timeout = 0');
  const hex = (of: string, width: number) =>
    isPg ? `lpad(to_hex(${of}), ${width}, '0')` : `printf('%0${width}x', ${of})`;
  const [one, other] = ['(i * 2654435761 % 4294967296)', '((i + 7) * 2246822519 % 4294967296)'];
  const lasting = `case when i % 1000 < 900 then ${one} % 600000 when i % 1000 < 990 then ${one} % 21600000
    when i % 1000 < 999 then ${one} % 259200000 else ${one} % 2592000000 end`;
  const span = (of: string) =>
    `case when ${of} <= 600000 then 0 when ${of} <= 21600000 then 1 when ${of} <= 259200000 then 2 else 3 end`;
  const start = `${START} + i * ${Math.round(DAYS_MS / ROWS)}`;
  const startHex = hex(start, 12);
  for (let from = 0; from < ROWS; from += CHUNK) {
    const to = Math.min(ROWS, from + CHUNK) - 1;
    const numbers = isPg
      ? `select i from generate_series(${from}::bigint, ${to}::bigint) as i`
      : `select i from (with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) select i from n)`;
    await db.raw(
      `insert into session_records (span, started_at, ended_at, account_id, username, session, node, client, outgoing, outgoing_port,
         host, address, port, protocol, bytes_up, bytes_down, connect_ms)
       select ${span('lasting')}, started_at, started_at + lasting, account, name, session, 'gate-1', client, '4c0000201', 1024 + i % 64000,
         case when i % 3 = 0 then '' else 'host-' || (${other} % 100000) || '.example' end, address,
         case when i % 20 = 0 then 25 else 443 end, case when i % 4 = 0 then 'udp' else 'tcp' end, ${one}, ${other},
         case when i % 4 = 0 then null else i % 150 end
       from (select i, ${lasting} as lasting, ${start} as started_at,
         '5391f9a6-1cd7-4c24-8155-' || ${hex('i % 5000', 12)} as account, 'player-' || (i % 5000) as name,
         substr(${startHex}, 1, 8) || '-' || substr(${startHex}, 9) || '-7c24-8155-' || ${hex('i', 12)} as session,
         '192.0.2.' || (i % 200) as client,
         '4' || case when i % 10 = 0 then 'c6336407' else ${hex(other, 8)} end as address from (${numbers}) as numbers) as made`,
    );
  }
}

function questions(): [string, TraceQuestion][] {
  const addresses = (text: string): TraceQuestion['destination'] => {
    const network = parseCidr(text);
    return network === null ? null : sortableRange(network);
  };
  const ask = (
    minutes: number,
    fields: Partial<TraceQuestion>,
    at = START + DAYS_MS * 0.7,
  ): TraceQuestion => ({
    destination: null,
    port: null,
    outgoing: { address: null, port: null },
    from: at - minutes * MINUTE,
    to: at + minutes * MINUTE,
    ...fields,
  });
  const popular = { destination: addresses('198.51.100.7'), port: 25 };
  return [
    ['an address in much use and a port, ± 5 min', ask(5, popular)],
    ['the same in the first days, ± 5 min', ask(5, popular, START + DAYS_MS * 0.02)],
    ['the same, ± 1 h', ask(60, popular)],
    ['the same, ± 12 h', ask(720, popular)],
    ['an address of nobody, ± 5 min', ask(5, { destination: addresses('203.0.113.9') })],
    ['an address of nobody, ± 12 h', ask(720, { destination: addresses('203.0.113.9') })],
    ['a network of 24 bits, ± 5 min', ask(5, { destination: addresses('198.51.100.0/24') })],
    ['a name, ± 5 min', ask(5, { destination: 'host-77.example' })],
    ['an outgoing port, ± 5 min', ask(5, { outgoing: { address: '192.0.2.1', port: 40_000 } })],
  ];
}

function record(): SessionRecord {
  return {
    session: randomUUID(),
    accountId: randomUUID(),
    username: 'player-1',
    node: 'gate-1',
    client: '192.0.2.9',
    outgoing: { address: '192.0.2.1', port: 40_000 },
    exit: null,
    host: 'host-1.example',
    address: `203.0.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`,
    port: 443,
    protocol: 'tcp',
    startedAt: Date.now(),
    connectMs: 12,
    endedAt: null,
    bytesUp: null,
    bytesDown: null,
  };
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const startedAt = performance.now();
  const result = await work();
  return { ms: performance.now() - startedAt, result };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
