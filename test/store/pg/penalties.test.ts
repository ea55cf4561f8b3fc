// The penalties of all nodes on PostgreSQL: a bounded table, whose ended penalties are ignored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPgChangeRecorder } from '../../../src/store/pg/changes.js';
import { connectPg } from '../../../src/store/pg/connect.js';
import { createPgPenaltyStore } from '../../../src/store/pg/live-sessions.js';
import { eventually } from '../../helpers/eventually.js';
import { newDatabase } from '../../helpers/shared-postgres.js';

const HOUR = 3_600_000;

test('penalties are published by key; at the limit those that end first are deleted', async (t) => {
  const db = connectPg(await newDatabase(t), 4);
  t.after(() => db.destroy());
  const store = createPgPenaltyStore({ db, following: db }, createPgChangeRecorder(db, 'node'), 3);
  const keys = async () => (await store.live()).map(({ key }) => key).sort();
  await store.add([
    { key: 'admin a', leftMs: HOUR },
    { key: 'admin b', leftMs: 3 * HOUR },
  ]);
  // A penalty is never made shorter.
  await store.add([{ key: 'admin b', leftMs: HOUR }]);
  const [found] = await store.live(['admin b', 'admin z']);
  assert.equal(found?.key, 'admin b');
  assert.ok((found?.leftMs ?? 0) > 2 * HOUR);
  assert.deepEqual(await db('changes').where({ topic: 'penalty' }).orderBy('seq').pluck('key'), [
    'admin a',
    'admin b',
    'admin b',
  ]);
  await store.add([
    { key: 'admin c', leftMs: 2 * HOUR },
    { key: 'admin d', leftMs: 2 * HOUR },
  ]);
  assert.deepEqual(await keys(), ['admin b', 'admin c', 'admin d']);
  await db('penalties').where({ key: 'admin c' }).update({ ends_at: 0 });
  assert.deepEqual(await keys(), ['admin b', 'admin d']);
  await store.add([{ key: 'admin e', leftMs: HOUR }]);
  assert.deepEqual(await db('penalties').orderBy('key').pluck('key'), ['admin b', 'admin d', 'admin e']);
});

test('concurrent writes of penalties by several nodes all succeed', async (t) => {
  const db = connectPg(await newDatabase(t), 4);
  t.after(() => db.destroy());
  const store = createPgPenaltyStore({ db, following: db }, createPgChangeRecorder(db, 'node'), 10);
  const batch = (n: number) =>
    Array.from({ length: 20 }, (_, i) => ({ key: `webhook ${(i * (n + 1)) % 23}`, leftMs: HOUR + i }));
  const unique = (n: number) => [...new Map(batch(n).map((each) => [each.key, each])).values()];
  await Promise.all(Array.from({ length: 12 }, (_, n) => store.add(unique(n))));
  assert.equal((await store.live()).length, 10);
});

test('the table stays bounded when two nodes write more than it keeps at the same time', async (t) => {
  const db = connectPg(await newDatabase(t), 4);
  t.after(() => db.destroy());
  const store = createPgPenaltyStore({ db, following: db }, createPgChangeRecorder(db, 'node'), 10);
  const waiting =
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  const writes: Promise<void>[] = [];
  await db.transaction(async (holder) => {
    // Neither of them can commit until both have begun.
    await holder.raw('lock table changes in exclusive mode');
    for (const node of ['a', 'b'])
      writes.push(
        store.add(Array.from({ length: 9 }, (_, n) => ({ key: `admin ${node}${n}`, leftMs: HOUR }))),
      );
    await eventually(async () => (await db.raw(waiting)).rows.length === 2);
  });
  await Promise.all(writes);
  assert.equal((await store.live()).length, 10);
});
