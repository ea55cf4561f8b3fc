// Limits of accounts over a real database, with a clock that the test moves: when a used-up quota is there again.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccountLimits } from '../../../src/core/accounts/account-limits.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { SessionRegistry } from '../../../src/core/sessions/session.js';
import type { Store } from '../../../src/store/store.js';
import { account, openTestStore } from '../../store/helpers.js';

const NOON = Date.UTC(2031, 4, 14, 12);
const NEXT_DAY = Date.UTC(2031, 4, 15);

async function setUp(t: TestContext, given?: Store) {
  const store = given ?? (await openTestStore(t)).store;
  let at = NOON;
  const limits = createAccountLimits({
    store: store.limits,
    sessions: new SessionRegistry(),
    egressClasses: [],
    now: () => at,
  });
  await limits.load();
  const move = (accountId: string, bytes: number): void => {
    const session = { accountId, bytesUp: () => bytes, bytesDown: () => 0 };
    limits.opened(session);
    limits.closed(session);
  };
  const until = (moment: number): void => {
    at = moment;
  };
  return { store, limits, move, until };
}

const DAILY = { quotaBytes: 100, quotaPeriod: 'day' } as const;

test('a daily quota that an account got before its first byte is there again the next day', async (t) => {
  const { store, limits, move, until } = await setUp(t);
  const player = account();
  await store.accounts.add(player);
  assert.ok((await limits.change(player.id, DAILY, DAEMON)).ok);
  move(player.id, 100);
  assert.equal(limits.state(player.id).isOverQuota, true);
  until(NEXT_DAY - 1);
  assert.equal(limits.state(player.id).isOverQuota, true);
  until(NEXT_DAY);
  assert.equal(limits.state(player.id).isOverQuota, false);
});

test('and so it is after a start, and after another process gave it', async (t) => {
  const first = await setUp(t);
  const [known, later] = [account(), account()];
  await first.store.accounts.addMany([known, later]);
  await first.limits.change(known.id, DAILY, DAEMON);
  const second = await setUp(t, first.store);
  await first.limits.change(later.id, DAILY, DAEMON);
  await second.limits.refresh([known.id, later.id]);
  for (const { id } of [known, later]) {
    second.move(id, 100);
    assert.equal(second.limits.state(id).isOverQuota, true);
  }
  second.until(NEXT_DAY);
  for (const { id } of [known, later]) assert.equal(second.limits.state(id).isOverQuota, false);
});

test('many accounts are refreshed at once: each gets its own limits, period and traffic', async (t) => {
  const { store, limits, move } = await setUp(t);
  const accounts = Array.from({ length: 40 }, () => account());
  await store.accounts.addMany(accounts);
  const elsewhere = await setUp(t, store);
  for (const [n, { id }] of accounts.entries()) {
    const quotaPeriod = (['day', 'week', 'month', 'never'] as const)[n % 4] ?? 'day';
    await elsewhere.limits.change(id, { maxSessions: n + 1, quotaPeriod }, DAEMON);
    elsewhere.move(id, n);
    move(id, 1000);
  }
  await elsewhere.limits.flush();
  await limits.refresh(accounts.map(({ id }) => id));
  for (const [n, { id }] of accounts.entries()) {
    const { limits: set, usage } = limits.view(id);
    assert.equal(set.maxSessions, n + 1);
    assert.equal(usage.totalBytesUp, n + 1000, 'both processes are counted');
    assert.equal(usage.periodBytes, n + 1000);
  }
});

for (const period of ['day', 'week', 'month'] as const) {
  test(`a clock that goes to the next ${period} and back grants no quota anew`, async (t) => {
    const { store, limits, move, until } = await setUp(t);
    const [player, idle] = [account(), account()];
    await store.accounts.addMany([player, idle]);
    for (const { id } of [player, idle]) {
      await limits.change(id, { quotaBytes: 100, quotaPeriod: period }, DAEMON);
      move(id, 100);
    }
    const isOver = (id: string): boolean => limits.state(id).isOverQuota;
    const next = NOON + 31 * 86_400_000;
    until(next);
    assert.equal(isOver(player.id), false);
    move(player.id, 60);
    until(NOON);
    assert.ok(isOver(player.id));
    assert.ok(isOver(idle.id));
    assert.equal(limits.glance(player.id).usage.periodBytes, 100);
    // What was used within the next period counts when it has come.
    until(next);
    assert.equal(limits.glance(player.id).usage.periodBytes, 60);
    await limits.flush();

    // Started within the next period, the memory knows nothing of this one: the database does.
    const second = await setUp(t, store);
    second.until(next);
    await second.limits.load();
    assert.equal(second.limits.glance(player.id).usage.periodBytes, 60);
    second.until(NOON);
    second.limits.enforce();
    await second.limits.flush();
    for (const { id } of [player, idle])
      assert.equal(second.limits.state(id).isOverQuota, true, 'and also for who has no session');
    second.until(next);
    assert.equal(second.limits.glance(player.id).usage.periodBytes, 60);
  });
}
