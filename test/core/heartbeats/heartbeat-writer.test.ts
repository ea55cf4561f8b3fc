import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import type { Heartbeat, HeartbeatTotals } from '../../../src/core/heartbeats/heartbeat.js';
import { HeartbeatPool } from '../../../src/core/heartbeats/heartbeat-pool.js';
import { createHeartbeatWriter } from '../../../src/core/heartbeats/heartbeat-writer.js';
import { openStore } from '../../../src/store/store.js';
import { account } from '../../helpers/account.js';
import { logInto } from '../../helpers/admin.js';
import { databaseOf } from '../../helpers/database.js';
import { addAccount } from '../../helpers/stored-accounts.js';
import { newestOf } from '../../helpers/stored-heartbeats.js';
import { createTestTimers } from '../../helpers/timers.js';

const DAY_MS = 86_400_000;

function entry(owner: Account, at: number, gameId: string | null = null): Heartbeat {
  return {
    at,
    accountId: owner.id,
    username: owner.username,
    sessionId: randomUUID(),
    client: '192.0.2.1',
    destination: 'game.example:7000',
    protocol: 'tcp',
    bytesUp: 1,
    bytesDown: 2,
    kind: gameId === null ? 'beat' : 'game',
    gameId,
  };
}

/** A promise and the functions that settle it. */
function deferred<Value = void>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const WRITE_FAILED = 'heartbeat write failed; will retry';
const RECOVERED = 'heartbeat write recovered';

/** A writer on a store that records its calls and whose functions a test can replace. */
function setup(overrides: Partial<Parameters<typeof createHeartbeatWriter>[0]> = {}) {
  const pool = overrides.pool ?? new HeartbeatPool({ maxPending: 100_000, maxPerAccount: 10_000 });
  const directory = new AccountDirectory();
  const batches: Heartbeat[][] = [];
  const logins: { id: string; at: number }[] = [];
  const events: Record<string, unknown>[] = [];
  const timers = createTestTimers();
  const store = {
    append: async (batch: readonly Heartbeat[]): Promise<HeartbeatTotals[]> => {
      batches.push([...batch]);
      const ids = [...new Set(batch.map(({ accountId }) => accountId))];
      return ids.map((accountId) => ({ accountId, count: pool.count(accountId), latestGameId: null }));
    },
    trim: async (
      _before: number,
      _limit: number,
    ): Promise<{ changed: HeartbeatTotals[]; more: boolean }> => ({
      changed: [],
      more: false,
    }),
    saveLogins: async (saved: readonly { id: string; at: number }[]): Promise<void> =>
      void logins.push(...saved),
  };
  const writer = createHeartbeatWriter({
    pool,
    directory,
    heartbeats: {
      totalsOf: async () => [],
      append: (batch) => store.append(batch),
      trim: (before, limit) => store.trim(before, limit),
    },
    accounts: { saveLogins: (saved) => store.saveLogins(saved) },
    traffic: { flush: async () => {} },
    records: { flush: async () => {} },
    retention: { maxAgeMs: 30 * DAY_MS, maxPerAccount: 10_000 },
    flushIntervalMs: 500,
    trimIntervalMs: 60_000,
    now: Date.now,
    timers,
    log: logInto(events),
    ...overrides,
  });
  return { pool, directory, batches, logins, events, timers, store, writer };
}

const ann = account({ username: 'ann' });

test('a flush writes the pending entries in order, at most 5000 in a transaction, and the login times', async () => {
  const { pool, directory, batches, logins, events, writer } = setup();
  directory.put(ann);
  directory.loggedIn(ann.id, 77);
  const entries = Array.from({ length: 12_000 }, (_, i) => entry(ann, i));
  for (const each of entries) pool.record(each);
  await writer.flush();
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [5000, 5000, 2000],
  );
  assert.deepEqual(batches.flat(), entries);
  assert.deepEqual(logins, [{ id: ann.id, at: 77 }]);
  assert.deepEqual([pool.pendingSize, events], [0, []]);
  await writer.flush();
  assert.equal(batches.length, 3, 'an empty pool causes no query');
});

test('there is one write at a time, and a flush writes all entries that were recorded before it', async () => {
  const { pool, store, writer } = setup();
  let writing = 0;
  const batchSizes: number[] = [];
  let release = deferred();
  const started = new EventEmitter();
  store.append = async (batch) => {
    writing += 1;
    assert.equal(writing, 1);
    batchSizes.push(batch.length);
    started.emit('append');
    await release.promise;
    writing -= 1;
    return [];
  };
  pool.record(entry(ann, 1));
  const first = writer.flush();
  await once(started, 'append');
  pool.record(entry(ann, 2));
  const others = [writer.flush(), writer.flush(), writer.flush()];
  release.resolve();
  release = deferred();
  release.resolve();
  await Promise.all([first, ...others]);
  assert.deepEqual(batchSizes, [1, 1]);
  assert.equal(pool.pendingSize, 0);
});

test('a failing database is reported once per outage, loses no entry, and its recovery is reported', async () => {
  let now = 1000;
  const { pool, directory, batches, logins, events, store, writer } = setup({ now: () => now });
  const { append, saveLogins } = store;
  const broken = new Error('disk gone');
  store.append = () => Promise.reject(broken);
  directory.put(ann);
  directory.loggedIn(ann.id, 5);
  for (let i = 0; i < 3; i += 1) pool.record(entry(ann, i));
  for (let i = 0; i < 4; i += 1) {
    await assert.rejects(writer.flush(), broken);
    now += 500;
    pool.record(entry(ann, 10 + i));
  }
  assert.deepEqual(events, [{ level: 'error', msg: WRITE_FAILED, err: broken, pending: 3 }]);
  assert.deepEqual([pool.pendingSize, pool.count(ann.id)], [7, 7]);
  store.append = append;
  await writer.flush();
  assert.deepEqual(events.at(-1), { level: 'info', msg: RECOVERED, outageMs: 2000 });
  assert.deepEqual(
    batches.flat().map(({ at }) => at),
    [0, 1, 2, 10, 11, 12, 13],
  );
  assert.equal(logins.length, 1);

  store.saveLogins = () => Promise.reject(broken);
  directory.loggedIn(ann.id, 6);
  await assert.rejects(writer.flush(), broken);
  store.saveLogins = saveLogins;
  await writer.flush();
  assert.deepEqual(logins.at(-1), { id: ann.id, at: 6 });
  assert.deepEqual(
    events.map(({ msg }) => msg),
    [WRITE_FAILED, RECOVERED, WRITE_FAILED, RECOVERED],
  );
});

test('the timer writes, retries after a failure, and stops', async () => {
  const { pool, timers, store, writer, events } = setup();
  const { append } = store;
  store.append = () => Promise.reject(new Error('locked'));
  pool.record(entry(ann, 1));
  const messages = () => events.map(({ msg }) => msg);
  writer.start();
  await timers.pass(499);
  assert.deepEqual(messages(), []);
  await timers.pass(1);
  assert.deepEqual(messages(), [WRITE_FAILED]);
  store.append = append;
  await timers.pass(500);
  assert.deepEqual([messages(), pool.pendingSize], [[WRITE_FAILED, RECOVERED], 0]);
  await writer.stop();
  pool.record(entry(ann, 2));
  await timers.pass(60_000);
  assert.equal(pool.pendingSize, 1, 'nothing runs after stop');
  assert.equal(events.length, 2);
});

test('stop writes the pending entries', async () => {
  const { pool, batches, writer } = setup();
  writer.start();
  pool.record(entry(ann, 1));
  await writer.stop();
  assert.equal(batches.flat().length, 1);
});

test('stop tries a failing database three times, then reports the lost entries', async () => {
  const { pool, events, timers, store, writer } = setup();
  let tries = 0;
  store.append = () => {
    tries += 1;
    return Promise.reject(new Error('gone'));
  };
  pool.record(entry(ann, 1));
  const stopped = assert.rejects(writer.stop(), { message: 'gone' });
  await timers.pass(1_000);
  await stopped;
  assert.equal(tries, 3);
  const { msg, entries } = events.at(-1) ?? {};
  assert.deepEqual([msg, entries], ['heartbeat entries lost: database not responding', 1]);
});

test('dropped entries are reported as one sum', async () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 100 });
  const { events, timers, writer } = setup({ pool, flushIntervalMs: 90_000 });
  for (let i = 0; i < 25; i += 1) pool.record(entry(ann, i));
  writer.start();
  await timers.pass(60_000);
  await writer.stop();
  assert.deepEqual(events, [
    { level: 'warn', msg: 'heartbeat entries dropped: heartbeats.maxPending reached', entries: 15 },
  ]);
});

test('old entries are trimmed in slices, and a flush runs between two slices', async () => {
  const { pool, batches, timers, store, writer } = setup({ now: () => 40 * DAY_MS });
  pool.load([{ accountId: ann.id, count: 20_000, latestGameId: 'chess' }]);
  const slices: [number, number][] = [];
  const done = deferred();
  let remaining = 20_000;
  store.trim = async (before, limit) => {
    slices.push([before, limit]);
    remaining -= limit;
    if (slices.length === 2) {
      pool.record(entry(ann, 1));
      void writer.flush();
    }
    if (slices.length === 3) assert.equal(batches.length, 1, 'the flush did not wait for the trim');
    if (slices.length === 4) done.resolve();
    return {
      changed: [{ accountId: ann.id, count: remaining, latestGameId: null }],
      more: slices.length < 4,
    };
  };
  writer.start();
  await timers.pass(60_000);
  await done.promise;
  await writer.stop();
  assert.deepEqual(slices, Array(4).fill([10 * DAY_MS, 5000]));
  assert.equal(pool.count(ann.id), 0);
});

test('a failed trim is reported and retried', async () => {
  const { events, timers, store, writer } = setup();
  store.trim = () => Promise.reject(new Error('locked'));
  writer.start();
  await timers.pass(120_000);
  await writer.stop();
  assert.deepEqual(
    events.map(({ msg }) => msg),
    Array(2).fill('deleting old heartbeats failed; will retry'),
  );
});

test('stop does not wait for a long trim', async () => {
  const { timers, store, writer } = setup();
  const started = deferred();
  store.trim = async () => {
    started.resolve();
    return { changed: [], more: true };
  };
  writer.start();
  await timers.pass(60_000);
  await started.promise;
  await writer.stop();
});

// ---- with the real database ----

async function realStore(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-writer-'));
  const store = await openStore(await databaseOf(dataDir));
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return store;
}

test('an account that is removed at any moment of a write has no rows and no counts', async (t) => {
  const store = await realStore(t);
  const staying = account({ username: 'staying' });
  await addAccount(store.accounts, staying);
  const moments = ['before', 'before-append', 'during-append', 'after-append', 'after'] as const;
  for (const moment of moments) {
    for (const alsoFails of [false, true]) {
      await t.test(`${moment}${alsoFails ? ', and the write fails once' : ''}`, async () => {
        const pool = new HeartbeatPool({ maxPending: 1000, maxPerAccount: 100 });
        pool.load(await store.heartbeats.totals());
        const removed = account({ username: `removed ${moment} ${alsoFails}` });
        await addAccount(store.accounts, removed);
        let removal: Promise<void> | null = null;
        const remove = () => {
          removal ??= store.accounts.removeMany([removed.id]).then(() => {
            pool.remove(removed.id);
            // Its sessions end now, so their last entries come after the removal.
            pool.record(entry(removed, 9, 'late'));
          });
          return removal;
        };
        let failures = alsoFails ? 1 : 0;
        const { writer } = setup({
          pool,
          heartbeats: {
            trim: store.heartbeats.trim,
            totalsOf: store.heartbeats.totalsOf,
            append: async (batch, retention) => {
              const hasRemoved = removal === null && batch.some(({ accountId }) => accountId === removed.id);
              if (hasRemoved && moment === 'before-append') await remove();
              if (hasRemoved && moment === 'during-append') void remove();
              if (failures > 0) {
                failures -= 1;
                throw new Error('disk full');
              }
              const totals = await store.heartbeats.append(batch, retention);
              if (hasRemoved && moment === 'after-append') await remove();
              return totals;
            },
          },
        });
        for (let i = 0; i < 20; i += 1) pool.record(entry(i % 2 ? removed : staying, i, `game ${i}`));
        const before = pool.count(staying.id);
        if (moment === 'before') await remove();
        await writer.flush().catch(() => {});
        await writer.flush();
        if (moment === 'after') await remove();
        await remove();
        await writer.flush();
        assert.deepEqual(
          [pool.count(removed.id), pool.latestGameId(removed.id), pool.pendingSize],
          [0, null, 0],
        );
        assert.deepEqual(await newestOf(store, removed.id, 10), []);
        assert.equal(pool.count(staying.id), before);
        const totals = await store.heartbeats.totals();
        assert.deepEqual(
          totals.map(({ accountId, count }) => [accountId, count]),
          [[staying.id, before]],
        );
      });
    }
  }
});

test('a flush of six thousand entries stores the count and GameID of each account', async (t) => {
  const store = await realStore(t);
  const accounts = Array.from({ length: 60 }, (_, i) => account({ username: `player ${i}` }));
  for (const each of accounts) await addAccount(store.accounts, each);
  const pool = new HeartbeatPool({ maxPending: 100_000, maxPerAccount: 10_000 });
  const { writer } = setup({ pool, heartbeats: store.heartbeats, accounts: store.accounts });
  for (let i = 0; i < 6_000; i += 1) {
    const owner = accounts[i % accounts.length];
    if (owner) pool.record(entry(owner, i, i % 10 ? null : 'arena'));
  }
  await writer.flush();
  const totals = await store.heartbeats.totals();
  assert.equal(
    totals.reduce((sum, { count }) => sum + count, 0),
    6_000,
  );
  for (const { accountId, count, latestGameId } of totals) {
    assert.deepEqual([pool.count(accountId), pool.latestGameId(accountId)], [count, latestGameId]);
  }
});
