// The activity that nodes publish to each other on PostgreSQL: each row is read once, in any order of commits.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import {
  createPgActivityFeed,
  createPgActivityRecorder,
  parseSnapshot,
} from '../../../src/store/pg/activity.js';
import { connectPg } from '../../../src/store/pg/connect.js';
import { newDatabase } from '../../helpers/shared-postgres.js';

async function connect(t: TestContext): Promise<Knex> {
  const db = connectPg(await newDatabase(t), 3);
  t.after(() => db.destroy());
  return db;
}

const login = (accountId: string, at: number) =>
  ({ account_id: accountId, kind: 'login', login_at: at }) as const;

test('activity is read once, also when it commits late; not its own, and no kind of a newer version', async (t) => {
  const db = await connect(t);
  const feed = await createPgActivityFeed(db, 'here');
  const record = createPgActivityRecorder('there');
  const next = async () => (await feed.next()).activity.map(({ accountId }) => accountId);
  const late = await db.transaction();
  await record(late, [login('late', 1)]);
  await db.transaction((trx) => record(trx, [login('early', 2)]));
  await db.transaction((trx) => createPgActivityRecorder('here')(trx, [login('own', 3)]));
  await db('account_activity').insert({ origin: 'there', at: 0, account_id: 'newer', kind: 'weather' });
  assert.deepEqual(await next(), ['early']);
  await late.commit();
  assert.deepEqual(await next(), ['late']);
  const { activity, hasMissed } = await feed.next();
  assert.deepEqual([activity, hasMissed], [[], false]);
});

test('after the database was replaced, activity may be missing', async (t) => {
  const [first, second] = await Promise.all([connect(t), connect(t)]);
  let db = first;
  const raw = (sql: string, bindings: Knex.RawBinding[] = []) => db.raw(sql, bindings);
  const feed = await createPgActivityFeed({ raw } as unknown as Knex, 'here');
  assert.equal((await feed.next()).hasMissed, false);
  db = second;
  assert.equal((await feed.next()).hasMissed, true);
  assert.equal((await feed.next()).hasMissed, false);
});

test('a snapshot contains what had committed, and nothing that was still running', () => {
  const snapshot = parseSnapshot('10:15:12,14');
  assert.deepEqual(
    [9n, 11n, 12n, 13n, 14n, 15n].map((transaction) => snapshot.includes(transaction)),
    [true, true, false, true, false, false],
  );
  assert.deepEqual([snapshot.isBefore(14n), snapshot.isBefore(15n)], [false, true]);
});
