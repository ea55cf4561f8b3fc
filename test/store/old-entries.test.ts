// Old entries are deleted exactly: an entry that is one millisecond too old or one too many is deleted, its neighbour stays.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { LoginEntry } from '../../src/core/accounts/access/login-log.js';
import { type AuditRecord, DAEMON } from '../../src/core/audit/audit.js';
import { trimLogs } from '../../src/parts/heartbeats.js';
import type { Store } from '../../src/store/store.js';
import { openTestStore } from './helpers.js';

const DAY_MS = 86_400_000;
const NOW = 1_900_000_000_000;

const login = (at: number, n = 0): LoginEntry => ({
  at,
  accountId: null,
  username: `player-${n}`,
  client: '203.0.113.9',
  outcome: 'success',
  times: 1,
});
const loginTimes = async (store: Store) =>
  (await store.logins.list({}, null, 20_000)).map(({ at }) => at - NOW).reverse();

test('logins are deleted by age to the millisecond, and by number to the entry', async (t) => {
  const { store } = await openTestStore(t);
  await store.logins.add([NOW - 1, NOW, NOW + 1, NOW + 2].map((at) => login(at)));
  assert.equal(await store.logins.trim(NOW, 4, 100), 1);
  assert.deepEqual(await loginTimes(store), [0, 1, 2]);
  assert.equal(await store.logins.trim(NOW, 3, 100), 0, 'as many as the limit');
  await store.logins.add([login(NOW + 3)]);
  assert.equal(await store.logins.trim(NOW, 3, 100), 1, 'one more than the limit');
  assert.deepEqual(await loginTimes(store), [1, 2, 3]);
  assert.equal(await store.logins.trim(NOW + 4, 3, 2), 2, 'at most two at once, the oldest');
  assert.deepEqual(await loginTimes(store), [3]);
  assert.equal(await store.logins.trim(NOW + 4, 3, 2), 1);
  assert.equal(await store.logins.trim(NOW + 4, 3, 2), 0);
});

/** Opens a store with one audit entry of each time. */
async function storeWithAuditEntries(t: TestContext, entryTimes: readonly number[]) {
  let at = NOW;
  const { store } = await openTestStore(t, { now: () => at });
  const record: AuditRecord = {
    by: DAEMON,
    action: 'settings.whitelist',
    object: { type: 'settings', id: 'whitelist', name: null },
    before: null,
    after: null,
  };
  for (const entryTime of entryTimes) {
    at = entryTime;
    await store.audit.add([record]);
  }
  const times = async () => (await store.audit.list({}, null, 100)).map((entry) => entry.at - NOW).reverse();
  return { store, times };
}

test('audit entries are deleted by age to the millisecond, oldest first', async (t) => {
  const { store, times } = await storeWithAuditEntries(t, [NOW - 3, NOW - 2, NOW - 1, NOW, NOW + 1]);
  assert.equal(await store.audit.trim(NOW, 2), 2);
  assert.deepEqual(await times(), [-1, 0, 1]);
  assert.equal(await store.audit.trim(NOW, 2), 1);
  assert.equal(await store.audit.trim(NOW, 2), 0);
  assert.deepEqual(await times(), [0, 1]);
});

const retention = { current: () => ({ ...KEPT }) };
const KEPT = {
  heartbeatDays: 1,
  heartbeatsPerAccount: 1,
  sessionDays: 2,
  runDays: 1,
  loginDays: 2,
  auditDays: 3,
};

test('each log is trimmed to its own number of days, exact to the millisecond', async (t) => {
  const audit = [NOW - 3 * DAY_MS - 1, NOW - 3 * DAY_MS, NOW];
  const { store, times } = await storeWithAuditEntries(t, audit);
  await store.logins.add([NOW - 2 * DAY_MS - 1, NOW - 2 * DAY_MS, NOW].map((at) => login(at)));
  await trimLogs({
    store,
    retention,
    maxLogins: 100,
    trafficDays: 92,
    now: NOW,
    signal: AbortSignal.any([]),
  });
  assert.deepEqual(await loginTimes(store), [-2 * DAY_MS, 0]);
  assert.deepEqual(await times(), [-3 * DAY_MS, 0]);
});

test('more rows than one statement deletes are deleted in one trim', async (t) => {
  const { store } = await openTestStore(t);
  await store.logins.add(Array.from({ length: 12_000 }, (_, n) => login(NOW, n)));
  await trimLogs({
    store,
    retention,
    maxLogins: 1_000,
    trafficDays: 92,
    now: NOW,
    signal: AbortSignal.any([]),
  });
  const left = await store.logins.list({}, null, 20_000);
  assert.deepEqual([left.length, left.at(-1)?.username], [1_000, 'player-11000']);
});

test('a daemon that stops does not wait for the end of a trim', async (t) => {
  const { store } = await openTestStore(t);
  await store.logins.add(Array.from({ length: 12_000 }, (_, n) => login(NOW, n)));
  await trimLogs({
    store,
    retention,
    maxLogins: 1_000,
    trafficDays: 92,
    now: NOW,
    signal: AbortSignal.abort(),
  });
  assert.equal(await store.logins.count({}), 7_000);
});
