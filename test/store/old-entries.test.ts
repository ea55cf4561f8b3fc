// Old entries are deleted exactly: an entry that is one millisecond too old or one too many is deleted, its neighbour stays.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { LoginEntry } from '../../src/core/accounts/access/login-log.js';
import { type AuditRecord, DAEMON } from '../../src/core/audit/audit.js';
import { createTimedId } from '../../src/core/ids.js';
import type { SessionRecord } from '../../src/core/trace/session-record.js';
import { trimLogs } from '../../src/parts/heartbeats.js';
import type { Store } from '../../src/store/store.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { newestOf } from '../helpers/stored-heartbeats.js';
import { account, heartbeat, openTestStore } from './helpers.js';

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

test('records of six months answer a trace where heartbeats are kept for a week', async (t) => {
  const { store } = await openTestStore(t);
  const player = account();
  await addAccount(store.accounts, player);
  const days = [0, 6, 8, 179, 181];
  await store.heartbeats.append(
    days.map((day) => heartbeat(player, { at: NOW - day * DAY_MS })),
    { maxAgeMs: 7 * DAY_MS, maxPerAccount: 10_000 },
  );
  const records = days.map((day): SessionRecord => {
    const [startedAt, endedAt] = [NOW - day * DAY_MS - 1_000, NOW - day * DAY_MS];
    const ends = { outgoing: { address: '192.0.2.1', port: 40_000 }, host: 'mail.example', port: 25 };
    const bytes = { bytesUp: 1, bytesDown: 2 };
    const who = { accountId: player.id, username: player.username, client: '198.51.100.9', exit: null };
    const session = createTimedId(startedAt);
    const way = { address: '203.0.113.7', protocol: 'tcp', connectMs: 12, node: 'gate-1' } as const;
    return { session, ...who, ...ends, ...way, startedAt, endedAt, ...bytes };
  });
  await store.sessionRecords.write({ records, ends: [], gap: null }, 1);
  await store.heartbeats.trim(NOW - 7 * DAY_MS, 100);
  await trimLogs({
    store,
    retention: { current: () => ({ ...KEPT, heartbeatDays: 7, sessionDays: 180 }) },
    maxLogins: 100,
    trafficDays: 92,
    now: NOW,
    signal: AbortSignal.any([]),
  });
  assert.equal((await newestOf(store, player.id, 10)).length, 2);
  const found = await Promise.all(
    days.map((day) => {
      const at = NOW - day * DAY_MS;
      const outgoing = { address: null, port: null };
      return store.sessionRecords.search(
        { destination: 'mail.example', port: 25, outgoing, from: at, to: at },
        null,
        10,
      );
    }),
  );
  assert.deepEqual(
    found.map(([record]) => record?.username),
    [...days.slice(1).map(() => player.username), undefined],
  );
  assert.equal(await store.sessionRecords.oldest(), NOW - 179 * DAY_MS - 1_000);
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
