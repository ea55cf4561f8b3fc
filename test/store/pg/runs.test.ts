// Webhook runs on PostgreSQL, where several daemons store and adopt them at the same time.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RunToStore, StoredRun } from '../../../src/core/agents/run-store.js';
import { eventually } from '../../helpers/eventually.js';
import { opener } from '../databases.js';

const NOW = 1_700_000_000_000;
/** The connections to this database that wait for a lock. */
const WAITING =
  "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

function run(key: string | null, owner: string | null = 'me'): RunToStore {
  const idempotency = key === null ? null : { key, digest: 'd', answer: () => '{}', expiresAt: NOW + 1 };
  return {
    run: {
      kind: 'message',
      agent: 'helper',
      session: 's',
      message: 'm',
      origin: 'webhook',
      rerunOf: null,
      acceptedAt: NOW,
    },
    node: owner,
    idempotency,
  };
}

/** The stores of two daemons on one database, the second with a clock that is a minute behind. */
async function twoDaemons(t: TestContext) {
  const open = opener(t, 'pg');
  const { store, database, connect } = await open({ now: () => NOW });
  const { store: behind } = await open({ database, now: () => NOW - 60_000 });
  return { one: store.runs, two: behind.runs, db: connect(), beside: connect() };
}

test('a run gets a later id than all that were stored before, also by a daemon whose clock is ahead', async (t) => {
  const { one, two } = await twoDaemons(t);
  const ids: string[] = [];
  for (const store of [one, two, one, two]) {
    const [stored] = await store.add([run(null)], NOW);
    assert.equal(stored?.outcome, 'stored');
    ids.push(stored.runId);
  }
  assert.deepEqual(ids, ids.toSorted());
});

test('a run waits until those with earlier ids are stored: nobody runs it before them', async (t) => {
  const { one, two, db, beside } = await twoDaemons(t);
  const waiting = async () => (await beside.raw(WAITING)).rows.length;
  const stored: Promise<StoredRun[]>[] = [];
  await db.transaction(async (holder) => {
    // The first run waits for the end of this transaction, which may use its key.
    await holder('idempotency_keys').insert({ key: 'k', digest: 'd', answer: '{}', expires_at: NOW + 1 });
    stored.push(one.add([run('k')], NOW));
    await eventually(async () => (await waiting()) === 1);
    let isStored = false;
    stored.push(
      two.add([run(null)], NOW).finally(() => {
        isStored = true;
      }),
    );
    await eventually(async () => isStored || (await waiting()) === 2);
    assert.equal(isStored, false);
    await holder('idempotency_keys').delete();
  });
  const ids = (await Promise.all(stored)).flat().map((each) => each.outcome === 'stored' && each.runId);
  assert.deepEqual(ids, ids.toSorted());
});

test('runs without an owner are adopted by one of the daemons that search at the same time', async (t) => {
  const { one, two, db } = await twoDaemons(t);
  await one.add([run(null, null), run(null, null)], NOW);
  const chosen = await db.transaction(async (holder) => {
    // Another daemon has chosen the first one, and has not committed yet.
    const [first] = await holder('runs').orderBy('id').limit(1).forUpdate().select('id');
    const adopted = await two.adopt('two', 10);
    assert.equal(adopted.length, 1);
    assert.notEqual(adopted[0]?.id, first.id);
    return first.id;
  });
  assert.deepEqual(
    (await one.adopt('one', 10)).map(({ id }) => id),
    [chosen],
  );
});
