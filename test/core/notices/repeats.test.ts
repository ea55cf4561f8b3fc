// An account that changes repeatedly causes one notice for each step and UTC day, not one for each change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../../../src/core/accounts/account.js';
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
        keysSince: async (since) =>
          [...stored.values()].filter(({ at }) => at >= since).map(({ key }) => key),
        failedRuns: async () => [],
        trim: async () => {},
      },
      settings: () => SETTINGS,
      accounts: () => [{ ...account, expiresAt: state.expiresAt }],
      quotaUse: () =>
        state.quotaBytes === null
          ? null
          : { usedBytes: 90, quotaBytes: state.quotaBytes, period: 'p', endsAt: null },
      maxLoginFailures: 10,
      loginFailureWindowMs: 1_000,
      now: () => state.at,
      newId: () => `${stored.size}`,
    });
  let notices = make();
  return {
    state,
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
