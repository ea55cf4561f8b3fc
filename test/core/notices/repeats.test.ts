// Which events are announced, and how often: players get one notice for each step and UTC day, the operator one digest a day, and an
// alert at most once an hour. What was there before a channel was switched on is not announced.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { createOrderedIds } from '../../../src/core/ids.js';
import type { StoredNotice } from '../../../src/core/notices/notice.js';
import { NOTICE_DEFAULTS, type NoticeSettings } from '../../../src/core/notices/notice-settings.js';
import { createNotices } from '../../../src/core/notices/notices.js';
import { digestEnd } from '../../../src/core/notices/reminders.js';
import { type Open, onEachDatabase } from '../../store/databases.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOON = 20_000 * DAY_MS + DAY_MS / 2;
const email = { ...NOTICE_DEFAULTS.email, host: 'mail.example', from: 'gate@example.com', players: true };
const SETTINGS: NoticeSettings = {
  ...NOTICE_DEFAULTS,
  expiryDays: [7],
  quotaPercent: [80],
  email: { ...email, to: 'boss@example.com' },
};

async function setUp(open: Open) {
  const state = { at: NOON, quotaBytes: null as number | null, settings: SETTINGS };
  const { store } = await open({ now: () => state.at });
  const accounts = new Map<string, Account>();
  const make = () =>
    createNotices({
      store: store.notices,
      contactCodes: store.contactCodes,
      audit: store.audit,
      stateAlerts: async () => [],
      settings: () => state.settings,
      hasReceivers: () => false,
      eventsOf: () => [],
      keptPerReceiver: 100,
      accounts: () => accounts.values(),
      account: (id) => accounts.get(id),
      quotaUse: () =>
        state.quotaBytes === null
          ? null
          : { usedBytes: 90, quotaBytes: state.quotaBytes, period: 'p', endsAt: null },
      midnight: (at) => store.calendar.periodStart('day', at) ?? at,
      maxLoginFailures: 2,
      loginFailureWindowMs: 1_000,
      now: () => state.at,
      newId: createOrderedIds(() => state.at),
    });
  let notices = make();
  const list = async () => (await store.notices.list({ since: 0, limit: 1_000 })).reverse();
  const put = (id: string, expiresAt: number | null, suspendedUntil: number | null = null) => {
    const contacts = { email: `${id}@example.com`, telegram: null, language: null };
    accounts.set(id, {
      id,
      username: id,
      isEnabled: true,
      contacts,
      expiresAt,
      suspendedUntil,
      suspendReason: null,
      owner: null,
    } as Partial<Account> as Account);
  };
  return {
    ...{ state, store, make, put, list, remove: (id: string) => accounts.delete(id) },
    guess: (client: string) => notices.guessed(client),
    restart() {
      notices = make();
    },
    /** Announces what is due. Returns the number of all notices to players. */
    async announce() {
      await notices.announce();
      return (await list()).filter(({ recipient }) => recipient === 'player').length;
    },
    digests: async () => (await list()).filter(({ type }) => type === 'accounts.digest'),
  };
}

const namesIn = ({ data }: StoredNotice) =>
  (data['accounts'] as { username: string }[]).map(({ username }) => username);

onEachDatabase('an expiry that changes repeatedly causes one notice per UTC day', async (open) => {
  const { state, put, announce, restart } = await setUp(open);
  await announce();
  const expiresAt = NOON + 5 * DAY_MS;
  put('anna', expiresAt);
  assert.equal(await announce(), 1);
  for (const moved of [1_000, 2_000, DAY_MS, -DAY_MS, -2 * DAY_MS]) {
    put('anna', expiresAt + moved);
    assert.equal(await announce(), 1, `changed by ${moved} ms`);
  }
  restart();
  assert.equal(await announce(), 1, 'no new notice after a restart');
  state.at += DAY_MS;
  assert.equal(await announce(), 2, 'a notice of the changed expiry on the next day');
  state.at += DAY_MS;
  put('anna', expiresAt - 2 * DAY_MS + 1_000);
  assert.equal(await announce(), 2, 'a second more does not count as another expiry');

  for (const [quotaBytes, expected] of [[100, 3] as const, [101, 3] as const, [102, 3] as const]) {
    state.quotaBytes = quotaBytes;
    assert.equal(await announce(), expected, `a quota of ${quotaBytes}`);
  }
  state.at += DAY_MS;
  assert.equal(await announce(), 4, 'a changed quota, on the next day');
});

onEachDatabase('each suspension is told to its player once, also the second of a day', async (open) => {
  const { state, put, announce } = await setUp(open);
  await announce();
  put('anna', null, NOON + DAY_MS);
  assert.equal(await announce(), 1);
  assert.equal(await announce(), 1);
  put('anna', null);
  state.at += HOUR_MS;
  assert.equal(await announce(), 1);
  put('anna', null, NOON + 2 * DAY_MS);
  assert.equal(await announce(), 2);
});

onEachDatabase('a channel announces only what is new since it was switched on', async (open) => {
  const { state, store, make, put, remove, list, announce, restart, digests } = await setUp(open);
  for (let i = 0; i < 250; i++) put(`old-${i}`, NOON + 3 * DAY_MS);
  assert.equal(await announce(), 0);
  // Another daemon of a fleet, and this one after a restart.
  const other = make();
  await Promise.all([announce(), other.announce()]);
  restart();
  assert.equal(await announce(), 0);
  assert.deepEqual(await list(), [], 'neither to the operator nor to players');

  state.at += HOUR_MS;
  for (const name of ['new', 'renewed', 'gone']) put(name, NOON + 6 * DAY_MS);
  assert.equal(await announce(), 3, 'players are reminded at once');
  put('renewed', NOON + 60 * DAY_MS);
  remove('gone');
  state.at = NOON + 21 * HOUR_MS;
  await Promise.all([announce(), other.announce()]);
  assert.deepEqual(await digests(), [], 'at its hour the daemons still record');
  state.at += 60_000;
  await Promise.all([announce(), other.announce()]);
  restart();
  await announce();
  const [digest, ...others] = await digests();
  assert.ok(digest);
  assert.equal(others.length, 0, 'one, though three daemons looked');
  assert.deepEqual(namesIn(digest), ['new']);
  assert.deepEqual([digest.data['expiring'], digest.data['expired'], digest.data['quota']], [1, 0, 0]);

  put('later', NOON + 6 * DAY_MS);
  await announce();
  state.at += DAY_MS - 60_000;
  await announce();
  assert.equal((await digests()).length, 1);
  restart();
  state.at += 3 * HOUR_MS;
  await announce();
  assert.deepEqual((await digests()).map(namesIn), [['new'], ['later']], 'one that was due during a pause');
  state.at += DAY_MS;
  await announce();
  assert.equal((await digests()).length, 2, 'none without anything to say');

  // Another channel, and the end of the first: it takes along what waits in it.
  const waiting = () => store.notices.waiting({ channel: 'email' });
  assert.ok((await waiting()) > 0);
  state.settings = { ...SETTINGS, email, wecom: { ...SETTINGS.wecom, key: 'k' } };
  await announce();
  assert.equal(await store.notices.waiting({ channel: 'email', recipient: 'operator' }), 0);
  assert.ok((await waiting()) > 0, 'those to players still wait');
  state.settings = { ...SETTINGS, email: NOTICE_DEFAULTS.email };
  await make().announce();
  assert.equal(await waiting(), 0);
  state.settings = SETTINGS;
  const before = (await list()).length;
  await announce();
  await announce();
  assert.equal((await list()).length, before, 'switched on again: nothing is due');
});

onEachDatabase('alerts of the same type and object are at least an hour apart', async (open) => {
  const { state, store, list, guess, announce, restart } = await setUp(open);
  const types = async () =>
    (await list()).map(({ type, data }) => `${type} ${data['client'] ?? data['name']}`);
  const guessTwice = (client: string) => {
    for (let i = 0; i < 2; i++) guess(client);
  };
  const record = (action: 'token.create' | 'token.revoke', id: string, address: string | null = null) =>
    store.audit.add([
      {
        by: { ...DAEMON, address },
        action,
        object: { type: 'token', id, name: id },
        before: null,
        after: null,
      },
    ]);
  await record('token.create', 'early');
  await announce();
  state.at += 1;
  guessTwice('192.0.2.1');
  await record('token.create', 'shop');
  await record('token.revoke', 'shop');
  await announce();
  const first = ['logins.failing 192.0.2.1', 'token.create shop'];
  assert.deepEqual(await types(), first, 'not what was before the channel');

  state.at += 59 * 60_000;
  guessTwice('192.0.2.1');
  await record('token.create', 'shop');
  await announce();
  assert.deepEqual(await types(), first, 'within the hour');
  guessTwice('192.0.2.2');
  await record('token.create', 'other');
  restart();
  await announce();
  await record('token.create', 'shop', '198.51.100.7');
  guessTwice('192.0.2.2');
  await announce();
  const others = ['token.create other', 'logins.failing 192.0.2.2', 'token.create shop'];
  assert.deepEqual(await types(), [...first, ...others], 'other objects have their own');

  state.at += 60_001;
  guessTwice('192.0.2.1');
  await announce();
  assert.deepEqual((await types()).slice(5), ['logins.failing 192.0.2.1']);
});

test('a digest ends at its hour of the operator’s time zone, once a day over changes of the clock', () => {
  const ends = (zone: string, from: string, days: number) => {
    const found = new Set<string>();
    for (let at = Date.parse(from); at < Date.parse(from) + days * DAY_MS; at += HOUR_MS / 4)
      found.add(new Date(digestEnd(at, 2, zone)).toISOString().slice(0, 16));
    return [...found];
  };
  const shanghai = ['2026-11-22T18:00', '2026-11-23T18:00', '2026-11-24T18:00'];
  assert.deepEqual(ends('Asia/Shanghai', '2026-11-23T12:00Z', 2), shanghai);
  // 02:00 does not exist on 29 March, and comes twice on 25 October.
  const spring = ['2026-03-27T01:00', '2026-03-28T01:00', '2026-03-29T01:00', '2026-03-30T00:00'];
  assert.deepEqual(ends('Europe/Berlin', '2026-03-28T00:00Z', 3), spring);
  const autumn = ['2026-10-24T00:00', '2026-10-25T00:00', '2026-10-26T01:00'];
  assert.deepEqual(ends('Europe/Berlin', '2026-10-24T12:00Z', 2), autumn);
  assert.equal(digestEnd(Date.parse('2026-11-23T02:00:59Z'), 2, 'UTC'), Date.parse('2026-11-22T02:00Z'));
  assert.equal(digestEnd(Date.parse('2026-11-23T02:01:00Z'), 2, 'UTC'), Date.parse('2026-11-23T02:00Z'));
});
