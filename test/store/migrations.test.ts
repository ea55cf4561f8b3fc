// Every migration can be undone and done again, alone and all together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Knex } from 'knex';
import { migrate, migratorConfig } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { type DatabaseKind, onEachDatabase } from './databases.js';

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

onEachDatabase(
  'undoing a migration restores the schema before it, and the migration can be repeated',
  async (open, kind) => {
    const { connect } = await open();
    const db = connect();
    await db.migrate.rollback(migratorConfig(kind), true);
    for (let count = 1; count <= migrations.length; count++) {
      const before = await schema(db, kind);
      const config = migratorConfig(kind, migrations.slice(0, count));
      await db.migrate.up(config);
      const after = await schema(db, kind);
      const only = migrations[count - 1]?.kind;
      if (only === undefined || only === kind) assert.notDeepEqual(after, before);
      await db.migrate.down(config);
      assert.deepEqual(await schema(db, kind), before, migrations[count - 1]?.name);
      await db.migrate.up(config);
      assert.deepEqual(await schema(db, kind), after);
    }
  },
);

onEachDatabase(
  'undoing all migrations leaves an empty database, and opening it creates the same schema again',
  async (open, kind) => {
    const { store, database, connect } = await open();
    await store.close();
    const db = connect();
    const full = await schema(db, kind);
    await db.migrate.rollback(migratorConfig(kind), true);
    assert.deepEqual(await schema(db, kind), []);
    await open({ database });
    assert.deepEqual(await schema(db, kind), full);
  },
);

test('migrations are numbered without a gap', () => {
  assert.deepEqual(
    migrations.map(({ name }) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1])),
    migrations.map((_, index) => index + 1),
  );
});

onEachDatabase('a failed migration leaves no part of its changes and no lock', async (open, kind) => {
  const { connect } = await open();
  const db = connect();
  await db.migrate.rollback(migratorConfig(kind), true);
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
