// The list of changes on PostgreSQL, where transactions commit in another order than they took their numbers: no change is missed.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { createPoller, nodeTimers } from '../../../src/core/time/timers.js';
import type { Change, ChangeFeed } from '../../../src/store/follow-changes.js';
import { createPgChangeFeed, createPgChangeRecorder } from '../../../src/store/pg/changes.js';
import { connectPg } from '../../../src/store/pg/connect.js';
import { openStore } from '../../../src/store/store.js';
import { eventually } from '../../helpers/eventually.js';
import { scaled } from '../../helpers/scale.js';
import { newDatabase } from '../../helpers/shared-postgres.js';
import { account, tempDir } from '../helpers.js';

const WRITERS = 5;

function connect(t: TestContext, connection: string, size: number): Knex {
  const db = connectPg(connection, size);
  t.after(() => db.destroy());
  return db;
}

/** Reads all pending changes; returns their keys. */
async function readAll(feed: ChangeFeed): Promise<string[]> {
  const readKeys: string[] = [];
  for (;;) {
    const changes = await feed.next();
    if (changes.length === 0) return readKeys;
    readKeys.push(...changes.map(keyOf));
  }
}

const keyOf = (change: Change): string => ('key' in change ? change.key : change.topic);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('write' as const), who: fc.nat({ max: WRITERS - 1 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('commit' as const, 'roll back' as const),
      who: fc.nat({ max: WRITERS - 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
);

test('each committed change is read exactly once, in any order of commits', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, WRITERS);
  const reading = connect(t, connection, 1);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const feed = await createPgChangeFeed(
        { db: reading, following: reading },
        { connection, origin: 'reader', now: Date.now },
      );
      const open = new Map<number, { trx: Knex.Transaction; keys: string[] }>();
      const committed: string[] = [];
      const readKeys: string[] = [];
      const end = async (who: number, how: 'commit' | 'roll back') => {
        const writer = open.get(who);
        if (!writer) return;
        open.delete(who);
        if (how === 'roll back') return writer.trx.rollback();
        await writer.trx.commit();
        committed.push(...writer.keys);
      };
      for (const each of steps) {
        if (each.do === 'read') readKeys.push(...(await readAll(feed)));
        else if (each.do === 'write') {
          const writer = open.get(each.who) ?? { trx: await db.transaction(), keys: [] };
          open.set(each.who, writer);
          number += 1;
          const key = `key-${number}`;
          await writer.trx('changes').insert({ topic: 'setting', key, origin: 'writer', at: Date.now() });
          writer.keys.push(key);
        } else await end(each.who, each.do);
        if (each.do === 'read') assert.deepEqual(readKeys.toSorted(), committed.toSorted());
      }
      for (const who of [...open.keys()]) await end(who, 'commit');
      readKeys.push(...(await readAll(feed)));
      assert.deepEqual(readKeys.toSorted(), committed.toSorted());
    }),
    { numRuns: scaled(30) },
  );
});

const MANY = scaled(300);
/** A busy machine must not look like a silent database: all writes wait for a few connections. */
const ANSWER_MS = 300_000;

// Stores suffice: daemons write and read changes through them, and HTTP does not affect the order of commits.
test(`of ${MANY} concurrent writes by three stores, each store reads all of the other two once`, async (t) => {
  const connection = await newDatabase(t);
  const stores = await Promise.all(
    [0, 1, 2].map(async () =>
      openStore({
        client: 'pg',
        dataDir: await tempDir(t),
        connection,
        poolSize: 8,
        answerMs: ANSWER_MS,
      }),
    ),
  );
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const players = Array.from({ length: MANY }, () => account());
  const readKeys = stores.map(() => [] as string[]);
  const failures: unknown[] = [];
  const readers = stores.map((store, n) => {
    const read = async (): Promise<void> => void readKeys[n]?.push(...(await readAll(store.changes)));
    const reader = createPoller({
      intervalMs: ANSWER_MS,
      poll: read,
      onError: (error) => failures.push(error),
      timers: nodeTimers,
    });
    const listener = store.changes.listen(() => void reader.poll());
    t.after(listener.stop);
    return reader;
  });
  await Promise.all(players.map((player, n) => stores[n % 3]?.accounts.addMany([player])));
  // A read in progress may have begun before the last write.
  for (const reader of readers) await reader.poll().then(reader.poll);
  assert.deepEqual(failures, []);
  for (const n of [0, 1, 2]) {
    const others = players.filter((_, index) => index % 3 !== n).map(({ id }) => id);
    assert.deepEqual(readKeys[n]?.toSorted(), others.toSorted());
  }
});

test('a lost connection loses no change', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, 1);
  const following = connect(t, connection, 1);
  const feed = await createPgChangeFeed({ db, following }, { connection, origin: 'reader', now: Date.now });
  const write = (key: string) =>
    db('changes').insert({ topic: 'setting', key, origin: 'writer', at: Date.now() });
  await write('before');
  assert.deepEqual(await readAll(feed), ['before']);
  await db.raw(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await write('meanwhile');
  const readKeys: string[] = [];
  // The first read may find the old connection, and is rejected.
  await eventually(async () => {
    readKeys.push(...(await readAll(feed)));
    return readKeys.length > 0;
  });
  await write('after');
  readKeys.push(...(await readAll(feed)));
  assert.deepEqual(readKeys, ['meanwhile', 'after']);
});

test('changes older than an hour by the clock of the database are deleted', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, 2);
  let now = Date.now();
  const feed = await createPgChangeFeed(
    { db, following: db },
    { connection, origin: 'reader', now: () => now },
  );
  const record = createPgChangeRecorder(db, 'writer');
  for (const key of ['old', 'new']) await db.transaction((trx) => record(trx, 'setting', key));
  await db('changes').where({ key: 'old' }).decrement('at', 3_600_001);
  now += 60_000;
  assert.deepEqual(await readAll(feed), ['old', 'new']);
  await eventually(async () => {
    assert.deepEqual(await db('changes').pluck('key'), ['new']);
  });
});

test('new changes are read although old ones cannot be deleted', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, 1);
  let now = Date.now();
  const cut = () => ({ where: () => ({ delete: () => Promise.reject(new Error('cut')) }) });
  const raw = (sql: string, bindings: Knex.RawBinding[] = []) => db.raw(sql, bindings);
  const failingToDelete = Object.assign(cut, { raw }) as unknown as Knex;
  const options = { connection, origin: 'reader', now: () => now };
  const feed = await createPgChangeFeed({ db: failingToDelete, following: db }, options);
  await db('changes').insert({ topic: 'setting', key: 'a', origin: 'writer', at: now });
  now += 60_000;
  assert.deepEqual(await readAll(feed), ['a']);
});

test('a reader that was disconnected for longer than changes are kept reloads everything', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, 2);
  const options = { connection, origin: 'reader', now: Date.now, keptMs: 100 };
  const feed = await createPgChangeFeed({ db, following: db }, options);
  await db('changes').insert({ topic: 'setting', key: 'a', origin: 'writer', at: 0 });
  await pause(options.keptMs);
  assert.deepEqual(await feed.next(), [{ topic: 'everything' }]);
});

test('everything is reloaded after the database was replaced', async (t) => {
  const [first, second] = await Promise.all([newDatabase(t), newDatabase(t)]);
  let db = connect(t, first, 1);
  const table = (name: string) => db(name);
  const raw = (sql: string, bindings: Knex.RawBinding[] = []) => db.raw(sql, bindings);
  const following = Object.assign(table, { raw }) as unknown as Knex;
  const options = { connection: first, origin: 'reader', now: Date.now };
  const feed = await createPgChangeFeed({ db: following, following }, options);
  assert.deepEqual(await feed.next(), []);
  db = connect(t, second, 1);
  assert.deepEqual(await feed.next(), [{ topic: 'everything' }]);
  assert.deepEqual(await feed.next(), []);
});

test('a change notifies listeners, also after a lost connection', async (t) => {
  const connection = await newDatabase(t);
  const db = connect(t, connection, 2);
  const feed = await createPgChangeFeed(
    { db, following: db },
    { connection, origin: 'reader', now: Date.now },
  );
  let notified = 0;
  const listener = feed.listen(() => {
    notified += 1;
  });
  t.after(listener.stop);
  await eventually(() => notified === 1);
  const record = createPgChangeRecorder(db, 'writer');
  const write = () => db.transaction((trx) => record(trx, 'setting', 'a'));
  await write();
  await eventually(() => notified === 2);
  await db.raw(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pulsegate listen'",
  );
  await eventually(() => notified === 3);
  await write();
  await eventually(() => notified === 4);
});
