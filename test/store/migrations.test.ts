// Every migration can be undone and done again, alone and all together.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Knex } from 'knex';
import { migrate, migratorConfig } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { connectBeside, openTestStore, tempDir } from './helpers.js';

/** Everything in the schema but SQLite's and the migrator's own tables. */
async function schema(db: Knex): Promise<unknown[]> {
  return db('sqlite_master')
    .whereNot('name', 'like', 'sqlite_%')
    .whereNot('name', 'like', 'schema_migrations%')
    .orderBy('name')
    .select('type', 'name', 'sql');
}

test('each migration, undone, leaves what was there before it, and can be done again', async (t) => {
  const db = connectBeside(t, join(await tempDir(t), 'pulsegate.db'));
  for (let count = 1; count <= migrations.length; count++) {
    const before = await schema(db);
    const config = migratorConfig(migrations.slice(0, count));
    await db.migrate.up(config);
    const after = await schema(db);
    assert.notDeepEqual(after, before);
    await db.migrate.down(config);
    assert.deepEqual(await schema(db), before, migrations[count - 1]?.name);
    await db.migrate.up(config);
    assert.deepEqual(await schema(db), after);
  }
});

test('all migrations undone leave nothing, and opening makes the same schema again', async (t) => {
  const { store, dataDir, file } = await openTestStore(t);
  await store.close();
  const db = connectBeside(t, file);
  const full = await schema(db);
  await db.migrate.rollback(migratorConfig(), true);
  assert.deepEqual(await schema(db), []);
  await openTestStore(t, { dataDir });
  assert.deepEqual(await schema(db), full);
});

test('migrations are numbered without a gap', () => {
  assert.deepEqual(
    migrations.map(({ name }) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1])),
    migrations.map((_, index) => index + 1),
  );
});

test('a migration that fails leaves no part of itself, and no lock', async (t) => {
  const db = connectBeside(t, join(await tempDir(t), 'pulsegate.db'));
  await db.raw('create table accounts (mine text)');
  await assert.rejects(migrate(db, 'here'), { code: 'SQLITE_ERROR' });
  assert.deepEqual(
    (await schema(db)).map((each) => (each as { name: string }).name),
    ['accounts'],
  );
  await db.raw('drop table accounts');
  await migrate(db, 'here');
});
