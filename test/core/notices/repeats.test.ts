// An account that is changed again and again is announced once for each step and UTC day, not once for each change.
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

/** Looks for what to announce, of one account that the test changes. */
function lookout() {
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
    async told() {
      await notices.announce();
      const to = [...stored.values()].map(({ recipient }) => recipient);
      return [to.filter((each) => each === 'player').length, to.filter((each) => each === 'operator').length];
    },
  };
}

test('an expiry that moves is announced once a day, and on the same UTC day not again', async () => {
  const { state, told, restart } = lookout();
  state.expiresAt = NOON + 5 * DAY_MS;
  assert.deepEqual(await told(), [1, 1]);
  for (const moved of [1_000, 2_000, DAY_MS, -DAY_MS, -2 * DAY_MS]) {
    state.expiresAt = NOON + 5 * DAY_MS + moved;
    assert.deepEqual(await told(), [1, 1], `moved by ${moved} ms`);
  }
  restart();
  assert.deepEqual(await told(), [1, 1], 'nor after a restart');
  state.at += DAY_MS;
  assert.deepEqual(await told(), [2, 2], 'the next day tells of the other expiry');
  state.at += DAY_MS;
  state.expiresAt += 1_000;
  assert.deepEqual(await told(), [2, 2], 'a second later is no other expiry');
});

test('a changed quota is announced again, but not on the same UTC day', async () => {
  const { state, told } = lookout();
  for (const quotaBytes of [100, 101, 102]) {
    state.quotaBytes = quotaBytes;
    assert.deepEqual(await told(), [1, 1], String(quotaBytes));
  }
  state.at += DAY_MS;
  assert.deepEqual(await told(), [2, 2]);
});
