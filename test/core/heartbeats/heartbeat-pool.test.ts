import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Heartbeat, HeartbeatKind, HeartbeatTotals } from '../../../src/core/heartbeats/heartbeat.js';
import { HeartbeatPool } from '../../../src/core/heartbeats/heartbeat-pool.js';
import { scaled } from '../../helpers/scale.js';

let serial = 0;

function entry(accountId: string, kind: HeartbeatKind = 'beat', gameId: string | null = null): Heartbeat {
  serial += 1;
  return {
    at: serial,
    accountId,
    username: `name of ${accountId}`,
    sessionId: `s${serial}`,
    client: '192.0.2.1',
    destination: 'game.example:7000',
    protocol: 'tcp',
    bytesUp: 1,
    bytesDown: 2,
    kind,
    gameId,
  };
}

const total = (accountId: string, count: number, latestGameId: string | null = null): HeartbeatTotals => ({
  accountId,
  count,
  latestGameId,
});

test('an unknown account has no entries and no GameID', () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 10 });
  assert.equal(pool.count('a'), 0);
  assert.equal(pool.latestGameId('a'), null);
  assert.equal(pool.pendingSize, 0);
  assert.deepEqual(pool.takeBatch(5), []);
});

test('the count includes stored and recorded entries, before and after writing', () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 100 });
  pool.load([total('a', 7, 'chess'), total('b', 1)]);
  assert.deepEqual([pool.count('a'), pool.latestGameId('a')], [7, 'chess']);
  pool.record(entry('a', 'open'));
  pool.record(entry('a', 'game', 'go'));
  assert.deepEqual([pool.count('a'), pool.latestGameId('a'), pool.count('b')], [9, 'go', 1]);
  const batch = pool.takeBatch(10);
  assert.deepEqual([pool.count('a'), pool.pendingSize], [9, 2]);
  pool.written(batch, [total('a', 9, 'go')]);
  assert.deepEqual([pool.count('a'), pool.pendingSize], [9, 0]);
});

test('the count never exceeds the number of entries that the retention keeps per account', () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 3 });
  for (let i = 0; i < 5; i += 1) pool.record(entry('a'));
  assert.equal(pool.count('a'), 3);
  pool.written(pool.takeBatch(5), [total('a', 3)]);
  assert.equal(pool.count('a'), 3);
});

test('a GameID recorded while a batch is being written stays the latest', () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 10 });
  pool.record(entry('a', 'game', 'old'));
  const batch = pool.takeBatch(10);
  pool.record(entry('a', 'game', 'new'));
  pool.written(batch, [total('a', 1, 'old')]);
  assert.equal(pool.latestGameId('a'), 'new');
});

test('a GameID whose entries retention has removed is forgotten', () => {
  const pool = new HeartbeatPool({ maxPending: 10, maxPerAccount: 10 });
  pool.load([total('a', 2, 'chess')]);
  pool.update([total('a', 1, null)]);
  assert.deepEqual([pool.count('a'), pool.latestGameId('a')], [1, null]);
});

test('a full pool drops the oldest beats first, then the oldest other entries', () => {
  const pool = new HeartbeatPool({ maxPending: 4, maxPerAccount: 100 });
  const open = entry('a', 'open');
  const beat1 = entry('a');
  const beat2 = entry('b');
  const game = entry('a', 'game', 'g');
  for (const each of [open, beat1, beat2, game]) pool.record(each);
  assert.equal(pool.dropped, 0);
  const close1 = entry('a', 'close');
  pool.record(close1);
  assert.deepEqual([pool.dropped, pool.count('a'), pool.count('b')], [1, 3, 1]);
  const close2 = entry('a', 'close');
  pool.record(close2);
  assert.deepEqual([pool.dropped, pool.count('a'), pool.count('b')], [2, 4, 0]);
  const close3 = entry('a', 'close');
  pool.record(close3);
  assert.equal(pool.dropped, 3);
  assert.deepEqual(pool.takeBatch(10), [game, close1, close2, close3]);
});

test('exactly maxPending entries fit, including the batch that is being written', () => {
  const pool = new HeartbeatPool({ maxPending: 3, maxPerAccount: 100 });
  for (let i = 0; i < 3; i += 1) pool.record(entry('a', 'open'));
  const batch = pool.takeBatch(2);
  assert.equal(pool.dropped, 0);
  pool.record(entry('a', 'close'));
  assert.deepEqual([pool.dropped, pool.pendingSize], [1, 3]);
  pool.failed(batch);
  assert.deepEqual([pool.dropped, pool.pendingSize, pool.count('a')], [1, 3, 3]);
});

test('a failed batch is retried first, in its order', () => {
  const pool = new HeartbeatPool({ maxPending: 100, maxPerAccount: 100 });
  const entries = Array.from({ length: 9 }, (_, i) => entry('a', i % 2 ? 'open' : 'beat'));
  for (const each of entries.slice(0, 6)) pool.record(each);
  pool.failed(pool.takeBatch(4));
  for (const each of entries.slice(6)) pool.record(each);
  pool.failed(pool.takeBatch(7));
  assert.deepEqual(pool.takeBatch(100), entries);
});

test('a removed account has no entries, no count and no GameID', async (t) => {
  const loadedPool = () => {
    const pool = new HeartbeatPool({ maxPending: 100, maxPerAccount: 100 });
    pool.load([total('a', 5, 'chess'), total('b', 5)]);
    for (const id of ['a', 'b', 'a']) pool.record(entry(id, 'game', 'go'));
    return pool;
  };
  const assertRemoved = (pool: HeartbeatPool, pending: number) => {
    assert.deepEqual([pool.count('a'), pool.latestGameId('a')], [0, null]);
    assert.equal(pool.pendingSize, pending);
    assert.equal(pool.count('b'), 6);
  };
  await t.test('removed while entries wait', () => {
    const pool = loadedPool();
    pool.remove('a');
    assertRemoved(pool, 1);
    assert.deepEqual(
      pool.takeBatch(9).map((each) => each.accountId),
      ['b'],
    );
  });
  await t.test('removed while entries are being written, with totals from before the removal', () => {
    const pool = loadedPool();
    const batch = pool.takeBatch(9);
    pool.remove('a');
    pool.written(batch, [total('a', 7, 'go'), total('b', 6, 'go')]);
    assertRemoved(pool, 0);
  });
  await t.test('removed while entries are being written, and the write fails', () => {
    const pool = loadedPool();
    const batch = pool.takeBatch(9);
    pool.remove('a');
    pool.failed(batch);
    assertRemoved(pool, 1);
  });
  await t.test('removed before its sessions close and before old totals arrive', () => {
    const pool = loadedPool();
    const batch = pool.takeBatch(9);
    pool.remove('a');
    pool.record(entry('a', 'close', 'go'));
    pool.written(batch, [total('a', 7, 'go'), total('b', 6, 'go')]);
    assert.equal(pool.count('a'), 1);
    // The late entry counts until the database reports that it was not stored.
    pool.written(pool.takeBatch(9), [total('a', 0)]);
    assertRemoved(pool, 0);
  });
});

test('only one batch is written at a time, and it ends once', () => {
  const pool = new HeartbeatPool({ maxPending: 100, maxPerAccount: 100 });
  for (let i = 0; i < 3; i += 1) pool.record(entry('a'));
  const batch = pool.takeBatch(2);
  assert.throws(() => pool.takeBatch(2), /already being written/);
  assert.throws(() => pool.written([...batch], []), /not the heartbeat batch/);
  pool.failed(batch);
  assert.throws(() => pool.failed(batch), /not the heartbeat batch/);
});

// ---- random sequences, compared with a simple model ----

const ACCOUNTS = ['a', 'b', 'c', 'd', 'e'];
const MAX_PER_ACCOUNT = 6;

type Step =
  | { do: 'record'; account: string; kind: HeartbeatKind; game: string | null }
  | { do: 'take'; max: number }
  | { do: 'append' | 'acknowledge' | 'fail' }
  | { do: 'remove'; account: string }
  | { do: 'trim'; account: string };

const account = fc.constantFrom(...ACCOUNTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('record' as const),
      account,
      kind: fc.constantFrom<HeartbeatKind>('open', 'beat', 'beat', 'game', 'close'),
      game: fc.option(fc.constantFrom('x', 'y', 'z')),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('take' as const), max: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('append' as const, 'acknowledge' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'trim' as const), account }) },
);

/** A model of a database and a pool as lists. */
class Model {
  readonly removed = new Set<string>();
  rows: Heartbeat[] = [];
  waiting: Heartbeat[] = [];
  batch: Heartbeat[] | null = null;
  /** The totals that the database returned for the batch; null before the batch is stored. */
  answer: HeartbeatTotals[] | null = null;
  acknowledged = new Map<string, number>();
  dropped = 0;

  totals(accounts: Iterable<string>): HeartbeatTotals[] {
    return [...new Set(accounts)].map((accountId) => {
      const accountRows = this.rows.filter((row) => row.accountId === accountId);
      return total(
        accountId,
        accountRows.length,
        accountRows.findLast((row) => row.gameId !== null)?.gameId ?? null,
      );
    });
  }

  acknowledge(totals: readonly HeartbeatTotals[]): void {
    for (const { accountId, count } of totals)
      if (!this.removed.has(accountId)) this.acknowledged.set(accountId, count);
  }

  append(): void {
    if (!this.batch) return;
    this.rows.push(...this.batch.filter((each) => !this.removed.has(each.accountId)));
    for (const id of ACCOUNTS) {
      const accountRows = this.rows.filter((row) => row.accountId === id);
      const over = new Set(accountRows.slice(0, Math.max(0, accountRows.length - MAX_PER_ACCOUNT)));
      this.rows = this.rows.filter((row) => !over.has(row));
    }
    this.answer = this.totals(this.batch.map((each) => each.accountId));
  }

  count(accountId: string): number {
    const countIn = (list: readonly Heartbeat[]) =>
      list.filter((each) => each.accountId === accountId).length;
    const stored = this.acknowledged.get(accountId) ?? 0;
    return Math.min(
      MAX_PER_ACCOUNT,
      stored + countIn(this.waiting) + countIn(this.batch?.filter((e) => !this.void.has(e)) ?? []),
    );
  }

  /** Entries of the batch whose account was removed after they were taken. */
  readonly void = new Set<Heartbeat>();
}

function runSteps(steps: readonly Step[], maxPending: number): void {
  const pool = new HeartbeatPool({ maxPending, maxPerAccount: MAX_PER_ACCOUNT });
  const model = new Model();
  let batch: Heartbeat[] = [];
  const run = (each: Step): void => {
    switch (each.do) {
      case 'record': {
        const recorded = entry(each.account, each.kind, each.game);
        pool.record(recorded);
        model.waiting.push(recorded);
        if (model.waiting.length + (model.batch?.length ?? 0) <= maxPending) return;
        const beat = model.waiting.findIndex((waiting) => waiting.kind === 'beat');
        model.waiting.splice(Math.max(beat, 0), 1);
        model.dropped += 1;
        return;
      }
      case 'take':
        if (model.batch) return;
        batch = pool.takeBatch(each.max);
        model.batch = model.waiting.splice(0, each.max);
        assert.deepEqual(batch, model.batch);
        if (batch.length === 0) model.batch = null;
        return;
      case 'append':
        if (model.batch && !model.answer) model.append();
        return;
      case 'acknowledge':
        if (!model.batch || !model.answer) return;
        pool.written(batch, model.answer);
        model.acknowledge(model.answer);
        model.batch = null;
        model.answer = null;
        return;
      case 'fail':
        if (!model.batch || model.answer) return;
        pool.failed(batch);
        model.waiting.unshift(...model.batch.filter((failed) => !model.void.has(failed)));
        model.batch = null;
        return;
      case 'remove':
        model.rows = model.rows.filter((row) => row.accountId !== each.account);
        model.waiting = model.waiting.filter((waiting) => waiting.accountId !== each.account);
        for (const written of model.batch ?? [])
          if (written.accountId === each.account) model.void.add(written);
        model.removed.add(each.account);
        model.acknowledged.delete(each.account);
        pool.remove(each.account);
        return;
      case 'trim': {
        if (model.batch) return;
        const oldest = model.rows.find((row) => row.accountId === each.account);
        model.rows = model.rows.filter((row) => row !== oldest);
        const totals = model.totals([each.account]);
        pool.update(totals);
        model.acknowledge(totals);
      }
    }
  };
  const check = (): void => {
    for (const id of ACCOUNTS) assert.equal(pool.count(id), model.count(id), `count of ${id}`);
    assert.equal(pool.pendingSize, model.waiting.length + (model.batch?.length ?? 0));
    assert.ok(pool.pendingSize <= maxPending);
    assert.equal(pool.dropped, model.dropped);
  };
  for (const each of steps) {
    run(each);
    check();
  }
  // After everything is written, the pool has the totals of the database.
  while (pool.pendingSize > 0) {
    for (const last of ['append', 'acknowledge'] as const) run({ do: last });
    run({ do: 'take', max: 4 });
  }
  check();
  for (const { accountId, count, latestGameId } of model.totals(ACCOUNTS)) {
    assert.equal(pool.count(accountId), count);
    // The GameID of a dropped entry stays until the next entry of its account is written.
    if (model.dropped === 0) assert.equal(pool.latestGameId(accountId), latestGameId);
  }
}

test('random records, writes, failures, removals and trims have the same counts as in the model', () => {
  const sequences = fc.array(step, { minLength: 20, maxLength: 120, size: 'max' });
  fc.assert(fc.property(sequences, fc.integer({ min: 1, max: 12 }), runSteps), { numRuns: scaled(300) });
});

test('a hundred thousand entries pass through a small pool in order', () => {
  const pool = new HeartbeatPool({ maxPending: 20_000, maxPerAccount: 10_000 });
  let written = 0;
  let last = 0;
  for (let i = 1; i <= 100_000; i += 1) {
    pool.record(entry(`account ${i % 500}`, i % 3 ? 'beat' : 'open'));
    if (i % 10_000 !== 0) continue;
    for (let batch = pool.takeBatch(5000); batch.length > 0; batch = pool.takeBatch(5000)) {
      for (const { at } of batch) {
        assert.ok(at > last);
        last = at;
      }
      written += batch.length;
      pool.written(batch, []);
    }
  }
  assert.deepEqual([written, pool.dropped, pool.pendingSize], [100_000, 0, 0]);
});
