// Quotas of accounts over a real database, with a clock that the test sets: when a used quota is renewed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../../../src/core/accounts/account.js';
import { createAccounts } from '../../../../src/core/accounts/accounts.js';
import { AccountDirectory } from '../../../../src/core/accounts/directory.js';
import { createAccountUsage } from '../../../../src/core/accounts/usage/account-usage.js';
import type { AccountLimits } from '../../../../src/core/accounts/usage/limits.js';
import { DAEMON } from '../../../../src/core/audit/audit.js';
import { HeartbeatPool } from '../../../../src/core/heartbeats/heartbeat-pool.js';
import { SessionRegistry } from '../../../../src/core/sessions/session-registry.js';
import type { Store } from '../../../../src/store/store.js';
import { FakeSession } from '../../../helpers/fake-session.js';
import { account, openTestStore } from '../../../store/helpers.js';

const NOON = Date.UTC(2031, 4, 14, 12);
const NEXT_DAY = Date.UTC(2031, 4, 15);

async function setUp(t: TestContext, sharedStore?: Store) {
  const store = sharedStore ?? (await openTestStore(t)).store;
  let at = NOON;
  const now = () => at;
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({
    maxGames: 32,
    store: store.traffic,
    directory,
    sessions,
    calendar: store.calendar,
    now,
  });
  const accounts = createAccounts({
    store: store.accounts,
    calendar: store.calendar,
    directory,
    usage,
    pool: new HeartbeatPool({ maxPending: 1, maxPerAccount: 1 }),
    egressClasses: [],
    hasExit: () => false,
    maxAuthorizedAddresses: 16,
    maxAllowedClients: 16,
    geoFiles: { country: null, asn: null },
    now,
    newId: randomUUID,
  });
  await usage.load();
  const accountOf = (id: string): Account => accounts.get(id)?.account ?? assert.fail(`no account ${id}`);
  return {
    store,
    directory,
    sessions,
    usage,
    accounts,
    addMany: async (count: number): Promise<readonly Account[]> =>
      accounts.addImported(
        Array.from({ length: count }, () => ({ account: account() })),
        DAEMON,
      ),
    setLimits: async (id: string, limits: Partial<AccountLimits>): Promise<void> => {
      assert.ok((await accounts.patch(id, () => ({ limits }), DAEMON)).ok);
    },
    isOver: (id: string): boolean => usage.isOverQuota(accountOf(id)),
    periodBytes: (id: string): number => usage.lastView(accountOf(id)).periodBytes,
    view: (id: string) => ({ limits: accountOf(id).limits, usage: usage.view(accountOf(id)) }),
    transfer: (accountId: string, bytes: number): void => {
      const session = new FakeSession({ accountId });
      sessions.opened(session);
      session.traffic.up = bytes;
      sessions.closed(session, session.summary);
    },
    setTime: (moment: number): void => {
      at = moment;
    },
  };
}

const DAILY = { quotaBytes: 100, quotaPeriod: 'day' } as const;

test('a daily quota that was set before the first byte is renewed on the next day', async (t) => {
  const { addMany, setLimits, isOver, transfer, setTime } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  await setLimits(player.id, DAILY);
  transfer(player.id, 100);
  assert.equal(isOver(player.id), true);
  setTime(NEXT_DAY - 1);
  assert.equal(isOver(player.id), true);
  setTime(NEXT_DAY);
  assert.equal(isOver(player.id), false);
});

test('a daily quota is also renewed after a restart, and when another process set it', async (t) => {
  const first = await setUp(t);
  const [known, later] = await first.addMany(2);
  assert.ok(known && later);
  await first.setLimits(known.id, DAILY);
  const second = await setUp(t, first.store);
  await first.setLimits(later.id, DAILY);
  await second.accounts.refresh([known.id, later.id]);
  await second.usage.flush();
  for (const { id } of [known, later]) {
    second.transfer(id, 100);
    assert.equal(second.isOver(id), true);
  }
  second.setTime(NEXT_DAY);
  for (const { id } of [known, later]) assert.equal(second.isOver(id), false);
});

test('a refresh of many accounts gives each its own limits, period and traffic', async (t) => {
  const { store, addMany, accounts, usage, view, transfer } = await setUp(t);
  const players = await addMany(40);
  const otherProcess = await setUp(t, store);
  for (const [n, { id }] of players.entries()) {
    const quotaPeriod = (['day', 'week', 'month', 'never'] as const)[n % 4] ?? 'day';
    await otherProcess.setLimits(id, { maxSessions: n + 1, quotaPeriod });
    otherProcess.transfer(id, n);
    transfer(id, 1000);
  }
  await otherProcess.usage.flush();
  await accounts.refresh(players.map(({ id }) => id));
  await usage.flush();
  for (const [n, { id }] of players.entries()) {
    const { limits: set, usage: counted } = view(id);
    assert.equal(set.maxSessions, n + 1);
    assert.equal(counted.totalBytesUp, n + 1000, 'the traffic of both processes is counted');
    assert.equal(counted.periodBytes, n + 1000);
  }
});

test('a change by another process does not wait for a write of traffic, and the quota is checked against the sums read afterwards', async (t) => {
  const first = await setUp(t);
  const [player] = await first.addMany(1);
  assert.ok(player);
  const { id } = player;
  const limits = { quotaBytes: 1000, quotaPeriod: 'month' } as const;
  await first.setLimits(id, limits);
  let isBlocked = false;
  let release = (): void => undefined;
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { traffic } = first.store;
  const add: typeof traffic.add = async (rows, batch, maxGames) => {
    if (isBlocked) await blocked;
    return traffic.add(rows, batch, maxGames);
  };
  const second = await setUp(t, { ...first.store, traffic: { ...traffic, add } });
  second.transfer(id, 900);
  await second.usage.flush();
  const overQuota: boolean[] = [];
  second.directory.onChanged(({ after }) => {
    if (after) overQuota.push(second.usage.isOverQuota(after));
  });
  isBlocked = true;
  second.setTime(NEXT_DAY);
  second.transfer(id, 1);
  const writing = second.usage.flush();
  await first.accounts.patch(id, () => ({ remarks: 'by the day', limits: DAILY }), DAEMON);
  await second.accounts.refresh([id]);
  assert.equal(second.accounts.get(id)?.account.remarks, 'by the day');
  assert.deepEqual(overQuota, [false], 'the traffic of the month does not count for the day');
  release();
  await writing;
  await second.usage.flush();
  assert.equal(second.periodBytes(id), 1);
  second.sessions.opened(new FakeSession({ accountId: id }));
  second.transfer(id, 99);
  second.sessions.tick();
  assert.equal(second.isOver(id), true);
  first.setTime(NEXT_DAY);
  await second.usage.flush();
  assert.equal((await first.accounts.resetUsage([id], DAEMON)).length, 1);
  await second.accounts.refresh([id]);
  assert.equal(second.isOver(id), true, 'the account stays over its quota until the sums are read');
  await second.usage.flush();
  assert.equal(second.isOver(id), false);
});

test('a new quota period counts its past traffic immediately; a reset starts from zero', async (t) => {
  const { store, usage, accounts, addMany, setLimits, isOver, periodBytes, view, transfer, setTime } =
    await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  const { id } = player;
  transfer(id, 70);
  await usage.flush();
  setTime(NEXT_DAY);
  transfer(id, 30);
  await setLimits(id, { quotaBytes: 100 });
  assert.deepEqual([periodBytes(id), isOver(id)], [100, true], 'the month');
  await accounts.patch(id, () => ({ limits: { quotaPeriod: 'day' }, remarks: 'by the day' }), DAEMON);
  assert.deepEqual([periodBytes(id), isOver(id)], [30, false], 'the day');
  assert.equal((await accounts.resetUsage([id], DAEMON)).length, 1);
  assert.equal(periodBytes(id), 0);
  assert.equal(view(id).usage.totalBytesUp, 100);
  const restarted = await setUp(t, store);
  restarted.setTime(NEXT_DAY);
  await restarted.usage.load();
  assert.equal(restarted.periodBytes(id), 0);
  assert.deepEqual(await accounts.resetUsage([randomUUID()], DAEMON), []);
});

test('imported usage is stored with the account, counts immediately, and is ignored for an account with usage', async (t) => {
  const { store, accounts, addMany, periodBytes, view, transfer } = await setUp(t);
  const used = { totalBytesUp: 60, totalBytesDown: 40, periodBytes: 25 };
  const [unused, withTraffic] = await addMany(2);
  assert.ok(unused && withTraffic);
  const [imported] = await accounts.addImported([{ account: account(), used }], DAEMON);
  assert.ok(imported);
  transfer(withTraffic.id, 7);
  const change = { limits: { maxSessions: 3 } };
  await accounts.patchMany(
    [unused, withTraffic].map(({ id }) => ({ id, changeOf: () => change, used })),
    DAEMON,
  );
  assert.deepEqual(
    [imported, unused, withTraffic].map(({ id }) => periodBytes(id)),
    [25, 25, 7],
  );
  assert.deepEqual(
    [imported, unused, withTraffic].map(({ id }) => view(id).usage.totalBytesUp),
    [60, 60, 7],
  );
  const restarted = await setUp(t, store);
  assert.deepEqual(
    [imported, unused].map(({ id }) => restarted.periodBytes(id)),
    [25, 25],
  );
  assert.equal(restarted.view(unused.id).limits.maxSessions, 3);
});

test('traffic of another node that the sums contain already is not counted again', async (t) => {
  const { store, addMany } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  const { id: accountId } = player;
  const snapshot = { includes: (transaction: bigint) => transaction < 10n, isBefore: () => false };
  const sums = async () => [{ accountId, bytesUp: 100, bytesDown: 0, bytesSince: 100, snapshot }];
  const { usage, periodBytes } = await setUp(t, { ...store, traffic: { ...store.traffic, sums } });
  const traffic = { kind: 'traffic', accountId, day: Math.floor(NOON / 86_400_000), bytesDown: 0 } as const;
  usage.addElsewhere(
    [
      { ...traffic, transaction: 9n, bytesUp: 5 },
      { ...traffic, transaction: 10n, bytesUp: 7 },
    ],
    11n,
  );
  assert.equal(periodBytes(accountId), 107);
});

for (const period of ['day', 'week', 'month'] as const) {
  test(`a clock that moves to the next ${period} and back does not renew the quota`, async (t) => {
    const { store, usage, addMany, setLimits, isOver, periodBytes, transfer, setTime } = await setUp(t);
    const [player, idle] = await addMany(2);
    assert.ok(player && idle);
    for (const { id } of [player, idle]) {
      await setLimits(id, { quotaBytes: 100, quotaPeriod: period });
      transfer(id, 100);
    }
    const next = NOON + 31 * 86_400_000;
    setTime(next);
    assert.equal(isOver(player.id), false);
    transfer(player.id, 60);
    setTime(NOON);
    assert.ok(isOver(player.id));
    assert.ok(isOver(idle.id));
    assert.equal(periodBytes(player.id), 100);
    // The traffic of the next period counts again when that period begins.
    setTime(next);
    assert.equal(periodBytes(player.id), 60);
    await usage.flush();

    // A process that starts in the next period reads the traffic of this period from the database.
    const second = await setUp(t, store);
    second.setTime(next);
    await second.usage.load();
    assert.equal(second.periodBytes(player.id), 60);
    second.setTime(NOON);
    second.sessions.tick();
    await second.usage.flush();
    for (const { id } of [player, idle]) assert.equal(second.isOver(id), true, 'also without a session');
    second.setTime(next);
    assert.equal(second.periodBytes(player.id), 60);
  });
}

test('listeners are notified once when a quota is used up, and once when it is renewed', async (t) => {
  const { usage, addMany, setLimits, transfer, setTime, directory, sessions } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  await setLimits(player.id, DAILY);
  const notified: boolean[] = [];
  directory.onChanged(({ before, after }) => {
    if (before && before === after) notified.push(usage.isOverQuota(after));
  });
  const tickTwice = (): void => {
    for (let i = 0; i < 2; i += 1) sessions.tick();
  };
  const live = new FakeSession({ accountId: player.id });
  sessions.opened(live);
  transfer(player.id, 99);
  tickTwice();
  transfer(player.id, 1);
  tickTwice();
  sessions.closed(live, live.summary);
  setTime(NEXT_DAY);
  tickTwice();
  assert.deepEqual(notified, [true, false]);
});

test('a flush counts live sessions, so that a crash after it loses nothing that they transferred before', async (t) => {
  const { store, sessions, usage, addMany, setTime } = await setUp(t);
  const [player] = await addMany(1);
  assert.ok(player);
  const session = new FakeSession({ accountId: player.id });
  sessions.opened(session);
  const written = async () => (await store.traffic.sums(null, [player.id]))[0]?.bytesUp ?? 0;
  for (const [at, up, expected] of [
    [NOON, 10, 10],
    // Another timer has just done so.
    [NOON + 399, 20, 10],
    [NOON + 400, 30, 30],
    // The clock was set back.
    [NOON - 10_000, 40, 40],
  ] as const) {
    session.traffic.up = up;
    setTime(at);
    await usage.flush();
    assert.equal(await written(), expected);
  }
});
