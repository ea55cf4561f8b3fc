// Every migration changes the schema of its database, and a failed one leaves nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import { EVENT_NAMES, type EventName } from '../../src/core/notices/event-types.js';
import { migrate, migratorConfig } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { newDatabase } from '../helpers/shared-postgres.js';
import { type DatabaseKind, onEachDatabase } from './databases.js';
import { connectBeside, tempDir } from './helpers.js';

const COLUMNS = `select 'column' as type, table_name || '.' || column_name as name, data_type || is_nullable || coalesce(collation_name, '') as sql
  from information_schema.columns where table_schema = current_schema() and table_name not like 'schema_migrations%'`;
const INDEXES = `select 'index' as type, indexname as name, indexdef as sql
  from pg_indexes where schemaname = current_schema() and tablename not like 'schema_migrations%'`;

/** Everything in the schema but the database's and the migrator's own tables. */
async function schema(db: Knex, kind: DatabaseKind): Promise<{ name: string }[]> {
  if (kind === 'pg') return (await db.raw(`${COLUMNS} union all ${INDEXES} order by 1, 2`)).rows;
  return db('sqlite_master')
    .whereNot('name', 'like', 'sqlite_%')
    .whereNot('name', 'like', 'schema_migrations%')
    .orderBy('name')
    .select('type', 'name', 'sql');
}

/** A connection to a database without a schema. */
async function emptyDatabase(t: TestContext, kind: DatabaseKind): Promise<Knex> {
  if (kind === 'sqlite3') return connectBeside(t, join(await tempDir(t), 'pulsegate.db'));
  const db = connectPg(await newDatabase(t, { isEmpty: true }), 1);
  t.after(() => db.destroy());
  return db;
}

onEachDatabase(
  'each migration changes the schema, and one by one they make the same as all at once',
  async (open, kind, t) => {
    const { connect } = await open();
    const db = await emptyDatabase(t, kind);
    for (let count = 1; count <= migrations.length; count++) {
      const before = await schema(db, kind);
      await db.migrate.up(migratorConfig(kind, migrations.slice(0, count)));
      const { name, kind: only } = migrations[count - 1] ?? assert.fail();
      if (only === undefined || only === kind) assert.notDeepEqual(await schema(db, kind), before, name);
      else assert.deepEqual(await schema(db, kind), before, name);
    }
    assert.deepEqual(await schema(db, kind), await schema(connect(), kind));
  },
);

test('migrations are numbered without a gap', () => {
  assert.deepEqual(
    migrations.map(({ name }) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1])),
    migrations.map((_, index) => index + 1),
  );
});

onEachDatabase('a failed migration leaves no part of its changes and no lock', async (_open, kind, t) => {
  const db = await emptyDatabase(t, kind);
  await db.raw('create table accounts (mine text)');
  const code = kind === 'pg' ? '42P07' : 'SQLITE_ERROR';
  await assert.rejects(migrate({ db, kind, where: 'here' }), { code });
  assert.deepEqual(
    (await schema(db, kind)).map(({ name }) => name),
    [kind === 'pg' ? 'accounts.mine' : 'accounts'],
  );
  await db.raw('drop table accounts');
  await migrate({ db, kind, where: 'here' });
});

onEachDatabase(
  'the channel `webhook` becomes a receiver of events, with what waits in it',
  async (_open, kind, t) => {
    const db = await emptyDatabase(t, kind);
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name.endsWith('_pg_receivers')),
    );
    await db.migrate.latest(migratorConfig(kind, before));
    const webhook = { operator: true, url: 'https://shop.example/', secret: 'whsec_AAAA' };
    await db('settings').insert({ key: 'notices', value: JSON.stringify({ webhook, historyDays: 5 }) });
    const notice = {
      key: 'k',
      id: 'i',
      type: 'run.failed',
      at: 1,
      data: '{}',
      tries: 1,
      state: 'pending',
      due_at: 2,
    };
    await db('notices').insert({ ...notice, channel: 'webhook', recipient: 'operator' });
    await migrate({ db, kind, where: 'here' });
    const settings = Object.fromEntries((await db('settings')).map(({ key, value }) => [key, value]));
    assert.deepEqual(JSON.parse(settings['notices']), { historyDays: 5 });
    const [receiver, ...others] = JSON.parse(settings['event-receivers']);
    assert.deepEqual(others, []);
    const { id, url, secret, isEnabled, types } = receiver;
    assert.deepEqual({ operator: isEnabled, url, secret }, webhook);
    assert.ok(
      types.includes('run.failed') && types.every((type: string) => EVENT_NAMES.includes(type as EventName)),
    );
    assert.equal((await db('notices').first('recipient'))?.recipient, id);
  },
);
