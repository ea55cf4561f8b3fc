// An account that changes repeatedly causes one notice for each step and UTC day, not one for each change; an alert is repeated at
// most once an hour.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
import type { AuditEntry } from '../../../src/core/audit/audit.js';
import type { Notice } from '../../../src/core/notices/notice.js';
import { NOTICE_DEFAULTS, type NoticeSettings } from '../../../src/core/notices/notice-settings.js';
import { createNotices } from '../../../src/core/notices/notices.js';

const DAY_MS = 86_400_000;
const NOON = 20_000 * DAY_MS + DAY_MS / 2;
const SETTINGS: NoticeSettings = {
  ...NOTICE_DEFAULTS,
  expiryDays: [7],
  quotaPercent: [80],
  email: { ...NOTICE_DEFAULTS.email, host: 'mail.example', from: 'gate@example.com', to: 'boss@example.com' },
};

/** Creates the notices of one account, which the test changes. */
function setUp() {
  const stored = new Map<string, Notice>();
  const state = { at: NOON, expiresAt: null as number | null, quotaBytes: null as number | null };
  const audit: AuditEntry[] = [];
  const contacts = { email: 'victim@example.com', telegram: null, language: null };
  const account = { id: 'one', username: 'anna', isEnabled: true, contacts } as Partial<Account> as Account;
  const make = () =>
    createNotices({
      store: {
        async add(notices) {
          const added = notices.filter(({ key }) => !stored.has(key));
          for (const notice of added) stored.set(notice.key, notice);
          return added.length;
        },
        keysSince: async (since, of) =>
          [...stored.values()]
            .filter(({ at, accountId }) => at >= since && (accountId === null) === (of === 'alerts'))
            .map(({ key }) => key),
        failedRuns: async () => [],
        trim: async () => {},
      },
      audit: {
        list: async (filter) =>
          audit.filter(({ action, at }) => filter.action?.includes(action) && at >= (filter.from ?? 0)),
      },
      settings: () => SETTINGS,
      accounts: () => [{ ...account, expiresAt: state.expiresAt }],
      quotaUse: () =>
        state.quotaBytes === null
          ? null
          : { usedBytes: 90, quotaBytes: state.quotaBytes, period: 'p', endsAt: null },
      maxLoginFailures: 2,
      loginFailureWindowMs: 1_000,
      now: () => state.at,
      newId: () => `${stored.size}`,
    });
  let notices = make();
  return {
    state,
    audit,
    stored,
    guess: (client: string) => notices.guessed(client),
    restart() {
      notices = make();
    },
    /** Announces what is due. Returns the numbers of all notices so far: to the player, and to the operator. */
    async announce() {
      await notices.announce();
      const recipients = [...stored.values()].map(({ recipient }) => recipient);
      return [
        recipients.filter((each) => each === 'player').length,
        recipients.filter((each) => each === 'operator').length,
      ];
    },
  };
}

test('an expiry that changes repeatedly causes one notice per UTC day', async () => {
  const { state, announce, restart } = setUp();
  state.expiresAt = NOON + 5 * DAY_MS;
  assert.deepEqual(await announce(), [1, 1]);
  for (const moved of [1_000, 2_000, DAY_MS, -DAY_MS, -2 * DAY_MS]) {
    state.expiresAt = NOON + 5 * DAY_MS + moved;
    assert.deepEqual(await announce(), [1, 1], `changed by ${moved} ms`);
  }
  restart();
  assert.deepEqual(await announce(), [1, 1], 'no new notice after a restart');
  state.at += DAY_MS;
  assert.deepEqual(await announce(), [2, 2], 'a notice of the changed expiry on the next day');
  state.at += DAY_MS;
  state.expiresAt += 1_000;
  assert.deepEqual(await announce(), [2, 2], 'a second more does not count as another expiry');
});

test('a changed quota causes another notice, but not on the same UTC day', async () => {
  const { state, announce } = setUp();
  for (const quotaBytes of [100, 101, 102]) {
    state.quotaBytes = quotaBytes;
    assert.deepEqual(await announce(), [1, 1], String(quotaBytes));
  }
  state.at += DAY_MS;
  assert.deepEqual(await announce(), [2, 2]);
});

test('alerts of the same type and object are at least an hour apart; other objects have their own', async () => {
  const { state, audit, stored, guess, announce } = setUp();
  const types = () =>
    [...stored.values()].map(({ type, data }) => `${type} ${data['client'] ?? data['name']}`);
  const guessTwice = (client: string) => {
    for (let i = 0; i < 2; i++) guess(client);
  };
  let entries = 0;
  const record = (action: string, id: string, address = '192.0.2.1') =>
    audit.push({
      ...{ id: `entry-${++entries}`, at: state.at, action, import: null, before: null, after: null },
      by: { name: 'admin', via: 'console', address },
      object: { type: 'token', id, name: id },
    });
  record('token.create', 'early');
  state.at += 1;
  guessTwice('192.0.2.1');
  record('token.create', 'shop');
  record('token.revoke', 'shop');
  await announce();
  const first = ['logins.failing 192.0.2.1', 'token.create shop'];
  assert.deepEqual(types(), first, 'not what was before the start');

  state.at += 59 * 60_000;
  guessTwice('192.0.2.1');
  record('token.create', 'shop');
  await announce();
  assert.deepEqual(types(), first, 'within the hour');
  guessTwice('192.0.2.2');
  record('token.create', 'other');
  record('token.create', 'shop', '198.51.100.7');
  await announce();
  const others = ['logins.failing 192.0.2.2', 'token.create other', 'token.create shop'];
  assert.deepEqual(types(), [...first, ...others]);

  state.at += 60_001;
  guessTwice('192.0.2.1');
  await announce();
  assert.deepEqual(types().slice(5), ['logins.failing 192.0.2.1']);
});
