// Penalties over all nodes: what one publishes the others apply, once it is certain, and also after an outage of the database.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttemptLimit } from '../../../src/core/auth/attempt-limit.js';
import { createPenalties } from '../../../src/core/auth/penalties.js';
import type { StoredPenalty } from '../../../src/core/auth/penalty-store.js';

const SOURCE = '192.0.2.1';

/** Two nodes on one clock and one fake database, each with a limit of three attempts a minute. */
function world() {
  const clock = { ms: 0 };
  const rows: StoredPenalty[] = [];
  const database = { isAway: false, rows };
  const node = () => {
    const store = {
      async add(penalties: readonly StoredPenalty[]) {
        if (database.isAway) throw new Error('away');
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
  const { clock, one, two, database } = world();
  const [here, there] = [one.limit(), two.limit()];
  for (let n = 0; n < 3; n += 1) assert.equal(here.attempt(SOURCE), null);
  await one.penalties.flush();
  assert.deepEqual(database.rows, [], 'the last attempt may turn out to be right');
  clock.ms = 1_000;
  await one.penalties.flush();
  assert.deepEqual(database.rows, [{ key: `admin ${SOURCE}`, leftMs: 59_000 }]);
  await two.penalties.read();
  assert.equal(there.attempt(SOURCE), 59_000);
  assert.equal(there.attempt('192.0.2.2'), null);
  clock.ms = 60_000;
  assert.equal(there.attempt(SOURCE), null);
  await two.penalties.flush();
  assert.equal(database.rows.length, 1, 'a penalty of another node is not published again');
});

test('a correct attempt at the limit causes no penalty', async () => {
  const { clock, one, database } = world();
  const here = one.limit();
  for (let n = 0; n < 3; n += 1) assert.equal(here.attempt(SOURCE), null);
  here.succeeded(SOURCE);
  clock.ms = 1_000;
  await one.penalties.flush();
  assert.deepEqual(database.rows, []);
  assert.equal(here.attempt(SOURCE), null);
});

test('without the database a penalty applies on its node, and is published later unless it has ended', async () => {
  const { clock, one, database } = world();
  const here = one.limit();
  database.isAway = true;
  for (let n = 0; n < 3; n += 1) here.attempt(SOURCE);
  clock.ms = 1_000;
  await assert.rejects(one.penalties.flush(), /away/);
  assert.equal(here.attempt(SOURCE), 59_000);
  clock.ms = 30_000;
  database.isAway = false;
  await one.penalties.flush();
  assert.deepEqual(database.rows, [{ key: `admin ${SOURCE}`, leftMs: 30_000 }]);
  database.isAway = true;
  for (let n = 0; n < 3; n += 1) here.attempt('192.0.2.2');
  clock.ms = 31_000;
  await assert.rejects(one.penalties.flush(), /away/);
  clock.ms = 90_000;
  database.isAway = false;
  await one.penalties.flush();
  assert.equal(database.rows.length, 1);
});

test('penalties of other nodes are limited like own ones', async () => {
  const { two, database } = world();
  const there = two.limit(2);
  for (const n of [1, 2, 3]) database.rows.push({ key: `admin 192.0.2.${n}`, leftMs: 1_000 });
  await two.penalties.read();
  assert.equal(there.attempt('192.0.2.3'), 1_000);
  assert.equal(there.attempt('192.0.2.1'), null);
});
