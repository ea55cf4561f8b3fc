// Limits of accounts over a real database, with a clock that the test moves: when a used-up quota is there again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
import { createAccountUsage } from '../../../src/core/accounts/account-usage.js';
import { createAccounts } from '../../../src/core/accounts/accounts.js';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import type { AccountLimits } from '../../../src/core/accounts/limits.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { HeartbeatPool } from '../../../src/core/heartbeats/heartbeat-pool.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import type { Store } from '../../../src/store/store.js';
import { FakeSession } from '../../helpers/fake-session.js';
import { account, openTestStore } from '../../store/helpers.js';

const NOON = Date.UTC(2031, 4, 14, 12);
const NEXT_DAY = Date.UTC(2031, 4, 15);

async function setUp(t: TestContext, given?: Store) {
  const store = given ?? (await openTestStore(t)).store;
  let at = NOON;
  const now = () => at;
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({ store: store.traffic, directory, sessions, now });
  const accounts = createAccounts({
    store: store.accounts,
    directory,
    usage,
    pool: new HeartbeatPool({ maxPending: 1, maxPerAccount: 1 }),
    egressClasses: [],
    maxAuthorizedAddresses: 16,
    maxAllowedClients: 16,
    now,
    newId: randomUUID,
  });
  await usage.load();
  const of = (id: string): Account => accounts.get(id)?.account ?? assert.fail(`no account ${id}`);
  return {
    store,
    directory,
    sessions,
    usage,
    accounts,
    addMany: async (count: number): Promise<Account[]> =>
      accounts.addImported(
        Array.from({ length: count }, () => ({ account: account() })),
        DAEMON,
      ),
    setLimits: async (id: string, limits: Partial<AccountLimits>): Promise<void> => {
      assert.ok((await accounts.patch(id, { limits }, DAEMON)).ok);
    },
    isOver: (id: string): boolean => usage.isOverQuota(of(id)),
    periodBytes: (id: string): number => usage.lastView(of(id)).periodBytes,
    view: (id: string) => ({ limits: of(id).limits, usage: usage.view(of(id)) }),
    move: (accountId: string, bytes: number): void => {
      const session = new FakeSession({ accountId });
      sessions.opened(session);
      session.traffic.up = bytes;
      sessions.closed(session, session.summary);
    },
    until: (moment: number): void => {
      at = moment;
    },
  };
}

const DAILY = { quotaBytes: 100, quotaPeriod: 'day' } as const;

test('a daily quota that was set before the first byte is renewed on the next day', async (t) => {
  const { addMany, setLimits, isOver, move, until } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  await setLimits(player.id, DAILY);
  move(player.id, 100);
  assert.equal(isOver(player.id), true);
  until(NEXT_DAY - 1);
  assert.equal(isOver(player.id), true);
  until(NEXT_DAY);
  assert.equal(isOver(player.id), false);
});

test('the same after a restart, and when another process set it', async (t) => {
  const first = await setUp(t);
  const [known, later] = await first.addMany(2);
  assert.ok(known && later);
  await first.setLimits(known.id, DAILY);
  const second = await setUp(t, first.store);
  await first.setLimits(later.id, DAILY);
  await second.accounts.refresh([known.id, later.id]);
  await second.usage.flush();
  for (const { id } of [known, later]) {
    second.move(id, 100);
    assert.equal(second.isOver(id), true);
  }
  second.until(NEXT_DAY);
  for (const { id } of [known, later]) assert.equal(second.isOver(id), false);
});

test('a refresh of many accounts gives each its own limits, period and traffic', async (t) => {
  const { store, addMany, accounts, usage, view, move } = await setUp(t);
  const players = await addMany(40);
  const elsewhere = await setUp(t, store);
  for (const [n, { id }] of players.entries()) {
    const quotaPeriod = (['day', 'week', 'month', 'never'] as const)[n % 4] ?? 'day';
    await elsewhere.setLimits(id, { maxSessions: n + 1, quotaPeriod });
    elsewhere.move(id, n);
    move(id, 1000);
  }
  await elsewhere.usage.flush();
  await accounts.refresh(players.map(({ id }) => id));
  await usage.flush();
  for (const [n, { id }] of players.entries()) {
    const { limits: set, usage: counted } = view(id);
    assert.equal(set.maxSessions, n + 1);
    assert.equal(counted.totalBytesUp, n + 1000, 'both processes are counted');
    assert.equal(counted.periodBytes, n + 1000);
  }
});

test('what another process changes waits for no write of traffic, and the quota is judged by what is then read', async (t) => {
  const first = await setUp(t);
  const [player] = await first.addMany(1);
  assert.ok(player);
  const { id } = player;
  const limits = { quotaBytes: 1000, quotaPeriod: 'month' } as const;
  await first.setLimits(id, limits);
  let isStuck = false;
  let release = (): void => undefined;
  const stuck = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { traffic } = first.store;
  const add: typeof traffic.add = async (rows, batch) => {
    if (isStuck) await stuck;
    return traffic.add(rows, batch);
  };
  const second = await setUp(t, { ...first.store, traffic: { ...traffic, add } });
  second.move(id, 900);
  await second.usage.flush();
  const judged: boolean[] = [];
  second.directory.onChanged(({ after }) => {
    if (after) judged.push(second.usage.isOverQuota(after));
  });
  isStuck = true;
  second.until(NEXT_DAY);
  second.move(id, 1);
  const writing = second.usage.flush();
  await first.accounts.patch(id, { remarks: 'by the day', limits: DAILY }, DAEMON);
  await second.accounts.refresh([id]);
  assert.equal(second.accounts.get(id)?.account.remarks, 'by the day');
  assert.deepEqual(judged, [false], 'what the month has moved does not count against the day');
  release();
  await writing;
  await second.usage.flush();
  assert.equal(second.periodBytes(id), 1);
  second.sessions.opened(new FakeSession({ accountId: id }));
  second.move(id, 99);
  second.sessions.tick();
  assert.equal(second.isOver(id), true);
  first.until(NEXT_DAY);
  await second.usage.flush();
  assert.ok(await first.accounts.resetUsage(id, DAEMON));
  await second.accounts.refresh([id]);
  assert.equal(second.isOver(id), true, 'not open before the sums are read');
  await second.usage.flush();
  assert.equal(second.isOver(id), false);
});

test('a new quota period counts its past traffic immediately; a reset starts from zero', async (t) => {
  const { store, usage, accounts, addMany, setLimits, isOver, periodBytes, view, move, until } =
    await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  const { id } = player;
  move(id, 70);
  await usage.flush();
  until(NEXT_DAY);
  move(id, 30);
  await setLimits(id, { quotaBytes: 100 });
  assert.deepEqual([periodBytes(id), isOver(id)], [100, true], 'the month');
  await accounts.patch(id, { limits: { quotaPeriod: 'day' }, remarks: 'by the day' }, DAEMON);
  assert.deepEqual([periodBytes(id), isOver(id)], [30, false], 'the day');
  assert.ok(await accounts.resetUsage(id, DAEMON));
  assert.equal(periodBytes(id), 0);
  assert.equal(view(id).usage.totalBytesUp, 100);
  const again = await setUp(t, store);
  again.until(NEXT_DAY);
  await again.usage.load();
  assert.equal(again.periodBytes(id), 0);
  assert.equal(await accounts.resetUsage(randomUUID(), DAEMON), false);
});

test('imported usage is stored with the account, counts immediately, and is ignored for accounts that have usage', async (t) => {
  const { store, accounts, addMany, periodBytes, view, move } = await setUp(t);
  const used = { totalBytesUp: 60, totalBytesDown: 40, periodBytes: 25 };
  const [fresh, moved] = await addMany(2);
  assert.ok(fresh && moved);
  const [taken] = await accounts.addImported([{ account: account(), used }], DAEMON);
  assert.ok(taken);
  move(moved.id, 7);
  const change = { limits: { maxSessions: 3 } };
  await accounts.patchMany(
    [fresh, moved].map(({ id }) => ({ id, change, used })),
    DAEMON,
  );
  assert.deepEqual(
    [taken, fresh, moved].map(({ id }) => periodBytes(id)),
    [25, 25, 7],
  );
  assert.deepEqual(
    [taken, fresh, moved].map(({ id }) => view(id).usage.totalBytesUp),
    [60, 60, 7],
  );
  const again = await setUp(t, store);
  assert.deepEqual(
    [taken, fresh].map(({ id }) => again.periodBytes(id)),
    [25, 25],
  );
  assert.equal(again.view(fresh.id).limits.maxSessions, 3);
});

for (const period of ['day', 'week', 'month'] as const) {
  test(`a clock that moves to the next ${period} and back does not renew the quota`, async (t) => {
    const { store, usage, addMany, setLimits, isOver, periodBytes, move, until } = await setUp(t);
    const [player, idle] = await addMany(2);
    assert.ok(player && idle);
    for (const { id } of [player, idle]) {
      await setLimits(id, { quotaBytes: 100, quotaPeriod: period });
      move(id, 100);
    }
    const next = NOON + 31 * 86_400_000;
    until(next);
    assert.equal(isOver(player.id), false);
    move(player.id, 60);
    until(NOON);
    assert.ok(isOver(player.id));
    assert.ok(isOver(idle.id));
    assert.equal(periodBytes(player.id), 100);
    // What was used within the next period counts when it has come.
    until(next);
    assert.equal(periodBytes(player.id), 60);
    await usage.flush();

    // Started within the next period, the memory knows nothing of this one: the database does.
    const second = await setUp(t, store);
    second.until(next);
    await second.usage.load();
    assert.equal(second.periodBytes(player.id), 60);
    second.until(NOON);
    second.sessions.tick();
    await second.usage.flush();
    for (const { id } of [player, idle])
      assert.equal(second.isOver(id), true, 'and also for who has no session');
    second.until(next);
    assert.equal(second.periodBytes(player.id), 60);
  });
}

test('listeners are notified once when a quota is used up, and once when it is renewed', async (t) => {
  const { usage, addMany, setLimits, move, until, directory, sessions } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  await setLimits(player.id, DAILY);
  const announced: boolean[] = [];
  directory.onChanged(({ before, after }) => {
    if (before && before === after) announced.push(usage.isOverQuota(after));
  });
  const look = (): void => {
    for (let i = 0; i < 2; i += 1) sessions.tick();
  };
  const live = new FakeSession({ accountId: player.id });
  sessions.opened(live);
  move(player.id, 99);
  look();
  move(player.id, 1);
  look();
  sessions.closed(live, live.summary);
  until(NEXT_DAY);
  look();
  assert.deepEqual(announced, [true, false]);
});
