// Penalties of all nodes: a node publishes a penalty once it is certain, also after an outage of the database, and the others apply it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttemptLimit } from '../../../src/core/auth/attempt-limit.js';
import { createPenalties, type StoredPenalty } from '../../../src/core/auth/penalties.js';

const SOURCE = '192.0.2.1';

/** Two nodes on one clock and one fake database, each with a limit of three attempts a minute. */
function setUp() {
  const clock = { ms: 0 };
  const rows: StoredPenalty[] = [];
  const database = { isAway: false, rows };
  const node = () => {
    const store = {
      async add(penalties: readonly StoredPenalty[]) {
        if (database.isAway) throw new Error('no connection');
        rows.push(...penalties);
      },
      live: async () => rows,
    };
    const penalties = createPenalties({ store, monotonicNow: () => clock.ms });
    const limit = (maxSources = 100) =>
      createAttemptLimit({
        maxFailures: 3,
        windowMs: 60_000,
        maxSources,
        now: () => clock.ms,
        penalties: penalties.of('admin'),
      });
    return { penalties, limit };
  };
  return { clock, database, one: node(), two: node() };
}

test('a source that has reached the limit at one node is refused by the other until its window ends', async () => {
  const { clock, one, two, database } = setUp();
  const [firstLimit, secondLimit] = [one.limit(), two.limit()];
  for (let n = 0; n < 3; n += 1) assert.equal(firstLimit.attempt(SOURCE), null);
  await one.penalties.flush();
  assert.deepEqual(database.rows, [], 'the last attempt may still succeed');
  clock.ms = 1_000;
  await one.penalties.flush();
  assert.deepEqual(database.rows, [{ key: `admin ${SOURCE}`, leftMs: 59_000 }]);
  await two.penalties.read();
  assert.equal(secondLimit.attempt(SOURCE), 59_000);
  assert.equal(secondLimit.attempt('192.0.2.2'), null);
  clock.ms = 60_000;
  assert.equal(secondLimit.attempt(SOURCE), null);
  await two.penalties.flush();
  assert.equal(database.rows.length, 1, 'a penalty of another node is not published again');
});

test('a correct attempt at the limit causes no penalty', async () => {
  const { clock, one, database } = setUp();
  const firstLimit = one.limit();
  for (let n = 0; n < 3; n += 1) assert.equal(firstLimit.attempt(SOURCE), null);
  firstLimit.succeeded(SOURCE);
  clock.ms = 1_000;
  await one.penalties.flush();
  assert.deepEqual(database.rows, []);
  assert.equal(firstLimit.attempt(SOURCE), null);
});

test('without the database a penalty applies on its node, and is published later unless it has ended', async () => {
  const { clock, one, database } = setUp();
  const firstLimit = one.limit();
  database.isAway = true;
  for (let n = 0; n < 3; n += 1) firstLimit.attempt(SOURCE);
  clock.ms = 1_000;
  await assert.rejects(one.penalties.flush(), /no connection/);
  assert.equal(firstLimit.attempt(SOURCE), 59_000);
  clock.ms = 30_000;
  database.isAway = false;
  await one.penalties.flush();
  assert.deepEqual(database.rows, [{ key: `admin ${SOURCE}`, leftMs: 30_000 }]);
  database.isAway = true;
  for (let n = 0; n < 3; n += 1) firstLimit.attempt('192.0.2.2');
  clock.ms = 31_000;
  await assert.rejects(one.penalties.flush(), /no connection/);
  clock.ms = 90_000;
  database.isAway = false;
  await one.penalties.flush();
  assert.equal(database.rows.length, 1);
});

test('the number of penalties of other nodes is limited as that of own penalties', async () => {
  const { two, database } = setUp();
  const secondLimit = two.limit(2);
  for (const n of [1, 2, 3]) database.rows.push({ key: `admin 192.0.2.${n}`, leftMs: 1_000 });
  await two.penalties.read();
  assert.equal(secondLimit.attempt('192.0.2.3'), 1_000);
  assert.equal(secondLimit.attempt('192.0.2.1'), null);
});
