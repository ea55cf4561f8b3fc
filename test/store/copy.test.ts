// Copies a database from SQLite to PostgreSQL and back, compares every table, and checks that a copy that ends early leaves no
// data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import { COPIED_TABLES, NOT_COPIED } from '../../src/store/copied-tables.js';
import { type CopyOptions, copyStore } from '../../src/store/copy.js';
import { lockForDaemon } from '../../src/store/daemon-lock.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { runCommand } from '../helpers/command.js';
import { BIN, plainEnvironment } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { newDatabase } from '../helpers/shared-postgres.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { type DatabaseKind, onEachDatabase } from './databases.js';
import { connectBeside, openTestStore, tempDir } from './helpers.js';

/** More rows than one batch contains. */
const ROWS = 300;
/** SQLSTATE. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes a value from the row number, so that references match the columns that they refer to. */
function madeValue(column: string, type: string, n: number): unknown {
  if (column === 'key' || column === 'session') return `session-${n}`;
  if (['id', 'account_id', 'run_id'].includes(column)) return /int/.test(type) ? n + 1 : `id-${n}`;
  if (/bool/.test(type)) return n % 2 === 0;
  if (/int/.test(type)) return n === 3 && column === 'bytes_up' ? Number.MAX_SAFE_INTEGER : n + 1;
  if (/double|float/.test(type)) return n + 0.1;
  return `${column} ${n} 玩家 \u{1f3ae} '"\\`;
}

/** Inserts rows with a value in every column into every table. Every second row has null in each nullable column. */
async function fill(db: Knex, rows: number): Promise<void> {
  for (const { name, key } of COPIED_TABLES) {
    const columns = Object.entries(await db(name).columnInfo());
    const made = Array.from({ length: rows }, (_, n) =>
      Object.fromEntries(
        columns.map(([column, { type, nullable }]) => {
          const isNull = nullable && n % 2 === 1 && !key.includes(column);
          return [column, isNull ? null : madeValue(column, type, n)];
        }),
      ),
    );
    await db.batchInsert(name, made, 30);
  }
}

async function emptySqlite(t: TestContext): Promise<CopyOptions['sqlite']> {
  return { client: sqliteClient, dataDir: await tempDir(t), busyTimeoutMs: 60_000 };
}

/** Makes a file with rows in every table. */
async function filledSqlite(t: TestContext, rows: number): Promise<CopyOptions['sqlite']> {
  const options = await emptySqlite(t);
  const { store, file } = await openTestStore(t, options);
  await store.close();
  const db = connectBeside(t, file);
  await fill(db, rows);
  await db.destroy();
  return options;
}

async function emptyPg(t: TestContext, { isEmpty = true } = {}): Promise<CopyOptions['pg']> {
  const connection = await newDatabase(t, { isEmpty });
  return { client: 'pg', dataDir: await tempDir(t), connection, poolSize: 2 };
}

function connectTo(t: TestContext, { connection }: CopyOptions['pg']): Knex {
  const db = connectPg(connection, 1);
  t.after(() => db.destroy());
  return db;
}

async function tablesOf(db: Knex, kind: DatabaseKind): Promise<string[]> {
  const names: string[] =
    kind === 'pg'
      ? await db('pg_tables').whereRaw('schemaname = current_schema()').pluck('tablename')
      : await db('sqlite_master').where({ type: 'table' }).pluck('name');
  // Omits the tables of the migrator and of SQLite, and those of its text index.
  return names.filter((name) => !/^(schema_migrations|sqlite_|logins_text_)/.test(name));
}

onEachDatabase(
  'every table of the schema is copied, or listed with the reason why not',
  async (open, kind) => {
    const { connect } = await open();
    const db = connect();
    const tables = await tablesOf(db, kind);
    const listed = [...COPIED_TABLES.map(({ name }) => name), ...Object.keys(NOT_COPIED)];
    assert.deepEqual(
      tables.filter((name) => !listed.includes(name)),
      [],
      'list these tables in src/store/copied-tables.ts',
    );
    for (const { name } of COPIED_TABLES) assert.ok(tables.includes(name), name);
  },
);

test('all rows are unchanged after a copy to PostgreSQL and back, and new rows get the next ids', async (t) => {
  const source = await filledSqlite(t, ROWS);
  const pg = await emptyPg(t);
  const target = await emptySqlite(t);
  const copiedToPg = await copyStore({ sqlite: source, pg, to: 'pg' });
  const copiedToSqlite = await copyStore({ sqlite: target, pg, to: 'sqlite3' });
  assert.deepEqual(copiedToSqlite, copiedToPg);
  assert.deepEqual(
    copiedToPg.map(({ table, rows }) => ({ table, rows })),
    COPIED_TABLES.map(({ name }) => ({ table: name, rows: ROWS })),
  );

  const [first, last] = [source, target].map(({ dataDir }) =>
    connectBeside(t, join(dataDir, 'pulsegate.db')),
  );
  assert.ok(first && last);
  for (const { name, key } of COPIED_TABLES) {
    const rowsIn = async (db: Knex): Promise<unknown[]> => await db(name).orderBy([...key]);
    assert.deepEqual(await rowsIn(last), await rowsIn(first), name);
  }
  assert.equal((await last('logins_text').whereRaw('logins_text match \'"name 299"\'')).length, 1);

  const row = { ...(await first('logins').where({ id: 1 }).first()), id: undefined };
  const [added] = await connectTo(t, pg)('logins').insert(row).returning('id');
  assert.equal(added.id, ROWS + 1);
});

test('a killed copy leaves no rows, and the next one is complete', async (t) => {
  const source = await filledSqlite(t, 30);
  const pg = await emptyPg(t, { isEmpty: false });
  const db = connectTo(t, pg);
  // The trigger stops the copy at its last table but one.
  await db.raw(`create function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(1); return new; end $$`);
  await db.raw('create trigger wait before insert on notices for each row execute function wait()');
  const config = join(source.dataDir, 'pulsegate.yaml');
  await writeFile(config, `dataDir: ${source.dataDir}\ndatabase: { client: "${source.client}" }\n`);
  const lockHolder = await db.transaction();
  await lockHolder.raw('select pg_advisory_xact_lock(1)');
  const child = spawn(
    process.execPath,
    [BIN, 'database', 'copy', '--config', config, '--to', pg.connection],
    {
      env: plainEnvironment(),
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'exit');
  const beside = connectTo(t, pg);
  const waitingLocks =
    "select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()";
  const isWaiting = async () => (await beside.raw(waitingLocks)).rows.length > 0;
  await eventually(isWaiting);
  // A daemon that starts now waits.
  for (const { name } of COPIED_TABLES) {
    const write = beside.transaction((trx) => trx.raw('lock table ?? in row exclusive mode nowait', [name]));
    await assert.rejects(write, { code: LOCK_NOT_AVAILABLE }, name);
  }
  child.kill('SIGKILL');
  await ended;
  await lockHolder.rollback();
  await db.raw('drop trigger wait on notices');
  for (const { name } of COPIED_TABLES) assert.equal(await db(name).first(), undefined, name);

  const { code, stdout, stderr } = await runCommand(source.dataDir, [
    ...['database', 'copy', '--config', config],
    ...['--to', pg.connection],
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^TABLE +ROWS +SUM +CHECKSUM\nsettings +30 +0 +[0-9a-f]{16}\n/);
  assert.match(
    stdout,
    new RegExp(`Copied ${30 * COPIED_TABLES.length} rows\\. Read back, both databases are equal\\.`),
  );
});

test('a difference after the copy is detected, and no row is kept', async (t) => {
  const source = await filledSqlite(t, 3);
  const pg = await emptyPg(t, { isEmpty: false });
  const db = connectTo(t, pg);
  await db.raw(`create function change() returns trigger language plpgsql as
    $$ begin new.remarks := 'other'; return new; end $$`);
  await db.raw('create trigger change before insert on accounts for each row execute function change()');
  await assert.rejects(copyStore({ sqlite: source, pg, to: 'pg' }), {
    code: 'copy-differs',
    message: /accounts of postgres:.* has another checksum/,
  });
  assert.equal(await db('accounts').first(), undefined);
});

test('a target that has rows, and a database that a daemon uses, are refused', async (t) => {
  const source = await filledSqlite(t, 2);
  const pg = await emptyPg(t);
  await copyStore({ sqlite: source, pg, to: 'pg' });
  await assert.rejects(copyStore({ sqlite: source, pg, to: 'pg' }), {
    code: 'copy-target-used',
    message: /is not empty \(settings has rows\)/,
  });
  await assert.rejects(copyStore({ sqlite: source, pg, to: 'sqlite3' }), { code: 'copy-target-used' });

  const db = connectTo(t, pg);
  await db('nodes')
    .where({ name: madeValue('name', 'text', 0) })
    .update({ lease_until: Date.now() + 3_600_000 });
  const empty = await emptySqlite(t);
  const dataDir = join(empty.dataDir, 'new');
  await assert.rejects(copyStore({ sqlite: { ...empty, dataDir }, pg, to: 'sqlite3' }), {
    code: 'daemon-running',
    message: /The node name 0 .* uses the database .* \(in 3\d\d\d s\)/,
  });
  assert.deepEqual(await readdir(empty.dataDir), [], 'the refused copy leaves nothing behind');

  const lock = await lockForDaemon(source.dataDir, 'it', sqliteClient);
  t.after(() => lock.release());
  await assert.rejects(copyStore({ sqlite: source, pg: await emptyPg(t), to: 'pg' }), {
    code: 'daemon-running',
    message: /A daemon uses the database .*pulsegate\.db\. Stop it/,
  });
});

test('a wrong target is refused with an error that does not contain its password', async (t) => {
  const folder = await tempDir(t);
  await writeFile(join(folder, 'sqlite.yaml'), `dataDir: ${folder}\n`);
  await writeFile(
    join(folder, 'pg.yaml'),
    `dataDir: ${folder}\ndatabase: { client: pg, connection: "${await newDatabase(t)}" }\n`,
  );
  const cases: readonly (readonly [config: string, to: string, code: number, text: RegExp])[] = [
    ['sqlite.yaml', join(folder, 'other'), 2, /--to is postgres:\/\/USER@HOST.*pulsegate backup/],
    ['sqlite.yaml', 'mysql://me:hunter2@db/x', 2, /--to is postgres/],
    ['sqlite.yaml', 'postgres://me:hunter2@127.0.0.1:1/x', 1, /No database|There is no database/],
    ['pg.yaml', 'postgres://me:hunter2@127.0.0.1:1/x', 2, /--to is a data folder.*pg_dump/],
    ['pg.yaml', join(folder, 'new.db'), 2, /is not a data folder/],
  ];
  for (const [config, to, code, text] of cases) {
    const result = await runCommand(folder, [
      'database',
      'copy',
      '--config',
      join(folder, config),
      '--to',
      to,
    ]);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, text);
    assert.doesNotMatch(result.stderr, /hunter2/);
  }
  const { dataDir } = await filledSqlite(t, 1);
  const to = 'postgres://me:hunter2@127.0.0.1:1/x';
  const refused = await runCommand(dataDir, ['database', 'copy', '--to', to], {
    env: { PULSEGATE_DATADIR: dataDir },
  });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /postgres:\/\/me@127\.0\.0\.1:1\/x cannot be reached/);
  assert.doesNotMatch(refused.stderr, /hunter2/);
});
