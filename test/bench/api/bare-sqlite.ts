// A part: the lower bound for writes. The rows that the daemon writes, by the sqlite3 package alone with prepared
// statements, into the same tables with the same durability: WAL, and each transaction on the disk before the next one.
import { randomUUID } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/store/store.js';
import { servePart } from './parts.js';

export interface SqliteJob {
  /** `add`, `update`: an account, its change and its audit entry. `run`: the start and the end of a run, in two transactions. */
  readonly kind: 'add' | 'update' | 'run' | 'heartbeat';
  readonly count: number;
}

const ACCOUNTS = 1000;
/** As many as the daemon writes at once; every other change is one transaction. */
const HEARTBEATS_PER_TRANSACTION = 5000;

/** As far as it is used here: the package, with its types, is installed only where it can be built. */
interface Database extends EventEmitter {
  prepare(sql: string): { run(values: unknown[], done: (error: Error | null) => void): void };
}
const sqlite3 = createRequire(import.meta.url)('sqlite3') as { Database: new (file: string) => Database };

const folder = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await openStore({ dataDir: folder, client: 'sqlite3', busyTimeoutMs: 5000 });
await store.close();

const db = new sqlite3.Database(join(folder, 'pulsegate.db'));
await once(db, 'open');
await prepare('pragma foreign_keys = on')();
await prepare('pragma synchronous = full')();
const begin = prepare('begin immediate');
const commit = prepare('commit');
const statements = {
  account: prepare(
    'insert into accounts (id, username, password_hash, is_enabled, created_at) values (?, ?, ?, 1, ?)',
  ),
  change: prepare("insert into changes (topic, key, origin, at) values ('account', ?, ?, ?)"),
  audit: prepare(
    `insert into audit (id, at, actor, via, action, object_type, object_id, object_name, after)
     values (?, ?, 'admin', 'basic', 'account.change', 'account', ?, ?, ?)`,
  ),
  update: prepare('update accounts set remarks = ?, is_enabled = 1, expires_at = null where id = ?'),
  heartbeat: prepare(
    `insert into heartbeats (account_id, username, at, session_id, client, destination, protocol, bytes_up, bytes_down, kind)
     values (?, 'player', ?, ?, '127.0.0.1', 'game.example:7000', 'udp', 1200, 3400, 'beat')`,
  ),
  run: prepare(
    `insert into runs (id, kind, agent, session, message, origin, status, attempt, accepted_at, delivery, delivery_tries)
     values (?, 'message', 'a', ?, 'a message', 'webhook', 'queued', 0, ?, 'none', 0)`,
  ),
  runBegun: prepare("update runs set status = 'running', attempt = attempt + 1, started_at = ? where id = ?"),
  runEnded: prepare("update runs set status = 'succeeded', finished_at = ?, reply = 'a reply' where id = ?"),
};

const accounts: string[] = [];
while (accounts.length < ACCOUNTS) await transaction(addAccount);

servePart<SqliteJob>(async ({ kind, count }) => {
  const runs = kind === 'run' ? await queueRuns(count) : [];
  const startedAt = performance.now();
  if (kind === 'run') {
    for (const id of runs) {
      await transaction(() => statements.runBegun(Date.now(), id));
      await transaction(() => statements.runEnded(Date.now(), id));
    }
  } else if (kind === 'heartbeat') {
    for (let done = 0; done < count; done += HEARTBEATS_PER_TRANSACTION)
      await transaction(() => addHeartbeats(Math.min(HEARTBEATS_PER_TRANSACTION, count - done)));
  } else {
    for (let i = 0; i < count; i += 1)
      await transaction(() => (kind === 'add' ? addAccount() : updateAccount(i)));
  }
  return { perSecond: count / ((performance.now() - startedAt) / 1000) };
});

async function addAccount(): Promise<void> {
  const id = randomUUID();
  await statements.account(id, `player-${id}`, 'x'.repeat(104), Date.now());
  await addChangeAndAudit(id);
  accounts.push(id);
}

async function updateAccount(i: number): Promise<void> {
  const id = accounts[i % accounts.length] ?? '';
  await statements.update(`remark ${i}`, id);
  await addChangeAndAudit(id);
}

async function addChangeAndAudit(id: string): Promise<void> {
  await statements.change(id, id, Date.now());
  await statements.audit(randomUUID(), Date.now(), id, `player-${id}`, '{"isEnabled":true,"remarks":null}');
}

async function addHeartbeats(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const id = accounts[i % accounts.length] ?? '';
    await statements.heartbeat(id, Date.now(), id);
  }
}

async function queueRuns(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await transaction(async () => {
    for (const id of ids) await statements.run(id, `hook:${id}`, Date.now());
  });
  return ids;
}

async function transaction(work: () => Promise<unknown>): Promise<void> {
  await begin();
  await work();
  await commit();
}

function prepare(sql: string): (...values: (string | number)[]) => Promise<void> {
  const statement = db.prepare(sql);
  return (...values) =>
    new Promise((resolve, reject) => {
      statement.run(values, (error: Error | null) => (error ? reject(error) : resolve()));
    });
}
