// The account service over a store whose answers the test can hold: the order of writes, and when memory changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyPassword } from '../../../src/core/accounts/access/password.js';
import type { Account } from '../../../src/core/accounts/account.js';
import type { AccountStore } from '../../../src/core/accounts/account-store.js';
import { createAccounts } from '../../../src/core/accounts/accounts.js';
import { type AccountChanged, AccountDirectory } from '../../../src/core/accounts/directory.js';
import { INITIAL_FIELDS } from '../../../src/core/accounts/fields/account-fields.js';
import { NO_CONTACTS } from '../../../src/core/accounts/fields/contacts.js';
import { createAccountUsage } from '../../../src/core/accounts/usage/account-usage.js';
import { Calendar } from '../../../src/core/accounts/usage/calendar.js';
import { NO_LIMITS } from '../../../src/core/accounts/usage/limits.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { DAY_MS } from '../../../src/core/time/clock.js';
import { endOf } from '../../helpers/account-end.js';

const NOW = 1_900_000_000_000;

/** A database in memory. After `hold`, every answer waits until the test releases it by its name. */
function setUp() {
  const rows = new Map<string, Account>();
  const waiting: { name: string; resume: () => void }[] = [];
  const calls: string[] = [];
  let isHeld = false;
  let failure: Error | null = null;
  async function reply<Value>(name: string, act: () => Value): Promise<Value> {
    calls.push(name);
    if (failure) throw failure;
    const value = act();
    if (isHeld) await new Promise<void>((resume) => waiting.push({ name, resume }));
    return value;
  }
  const store: AccountStore = {
    all: () => reply('all', () => [...rows.values()]),
    getMany: (ids) => reply('getMany', () => ids.flatMap((id) => rows.get(id) ?? [])),
    findByLink: async () => null,
    addMany: (accounts) =>
      reply('add', () => {
        const names = new Set(Array.from(rows.values(), ({ username }) => username));
        const addable = accounts.filter(({ username }) => !names.has(username));
        for (const account of addable) rows.set(account.id, account);
        return new Set(addable.map(({ id }) => id));
      }),
    changeMany: (changes) =>
      reply(`change ${changes.length}`, () =>
        changes.flatMap(({ id, after }) => {
          const row = rows.get(id);
          const updated = row && after(row);
          if (!updated) return [];
          rows.set(id, updated);
          return [updated];
        }),
      ),
    removeMany: ([id = '']) =>
      reply('remove', () => {
        const row = rows.get(id);
        rows.delete(id);
        return row ? [row] : [];
      }),
    saveLogins: async () => {},
    rehash: async () => {},
  };
  const directory = new AccountDirectory();
  const events: string[] = [];
  const changes: AccountChanged[] = [];
  directory.onChanged((changed) => {
    changes.push(changed);
    events.push(...endOf(changed));
  });
  const pool = {
    count: () => 7,
    latestGameId: () => 'ARENA',
    remove: (id: string) => events.push(`pool removes ${id}`),
  };
  let ids = 0;
  const newId = () => `id-${++ids}`;
  const traffic = { add: async () => {}, days: async () => [], sums: async () => [] };
  const sessions = new SessionRegistry();
  const calendar = new Calendar();
  const usage = createAccountUsage({
    store: traffic,
    directory,
    sessions,
    calendar,
    maxGames: 32,
    now: () => NOW,
  });
  const egressClasses = ['friends'];
  const accounts = createAccounts({
    ...{ store, directory, usage, pool, egressClasses, calendar, now: () => NOW, newId },
    hasExit: (name) => name === 'jp',
    maxAuthorizedAddresses: 3,
    maxAllowedClients: 3,
    geoFiles: { country: null, asn: null },
  });
  return {
    accounts,
    directory,
    rows,
    calls,
    events,
    changes,
    hold: () => {
      isHeld = true;
    },
    release: async (name: string) => {
      while (!waiting.some((each) => each.name === name))
        await new Promise((resolve) => setImmediate(resolve));
      waiting
        .splice(
          waiting.findIndex((each) => each.name === name),
          1,
        )[0]
        ?.resume();
    },
    fail: (error: Error | null) => {
      failure = error;
    },
  };
}

const ENABLED = { isEnabled: true };
const DISABLED = { isEnabled: false };
const player = { username: 'player', password: 'secret' };

test('an added account is in the database and in memory, with a salted hash', async () => {
  const { accounts, rows, directory } = setUp();
  const added = await accounts.add({ ...player, remarks: 'r', expiresAt: 5, isEnabled: false });
  assert.ok(added.ok);
  const { passwordHash, ...rest } = added.account;
  assert.deepEqual(rest, {
    ...INITIAL_FIELDS,
    id: 'id-1',
    username: 'player',
    isEnabled: false,
    remarks: 'r',
    createdAt: NOW,
    lastLoginAt: null,
    expiresAt: 5,
    limits: NO_LIMITS,
    tags: [],
    contacts: NO_CONTACTS,
    daysFromFirstLogin: null,
    plan: null,
    quotaReset: null,
    authorizedAddresses: [],
    allowedClients: [],
    schedule: null,
    exit: null,
    owner: null,
    passwordVersion: 0,
    link: null,
  });
  assert.ok(verifyPassword('secret', passwordHash));
  assert.deepEqual(rows.get('id-1'), added.account);
  assert.deepEqual(directory.byId('id-1'), added.account);
});

const REFUSED: [string, object, string][] = [
  ['no user name', { username: '' }, 'empty-credentials'],
  ['a blank user name', { username: ' \t' }, 'empty-credentials'],
  ['no password', { password: '' }, 'empty-credentials'],
  ['a blank password', { password: '  ' }, 'empty-credentials'],
  ['a user name of 256 bytes', { username: 'x'.repeat(256) }, 'invalid-username'],
  ['a user name of 86 characters and 258 bytes', { username: '名'.repeat(86) }, 'invalid-username'],
  ['a line break in the user name', { username: 'a\nb' }, 'invalid-username'],
  ['half a surrogate pair in the user name', { username: 'a\ud800' }, 'invalid-username'],
  ['a password of 256 bytes', { password: 'x'.repeat(256) }, 'invalid-password'],
  ['half a surrogate pair in the password', { password: 'a\ud800' }, 'invalid-password'],
  ['U+0000 in the remarks', { remarks: 'a\0b' }, 'invalid-remarks'],
];
for (const [name, fields, reason] of REFUSED) {
  test(`${name} is refused without a query of the database`, async () => {
    const { accounts, calls } = setUp();
    assert.deepEqual(await accounts.add({ ...player, ...fields }), { ok: false, reason });
    assert.deepEqual(calls, []);
  });
}

test('a user name that exists is refused, and its account is unchanged', async () => {
  const { accounts, directory } = setUp();
  await accounts.add(player);
  assert.deepEqual(await accounts.add(player), { ok: false, reason: 'username-taken' });
  assert.equal(directory.size, 1);
  assert.equal(accounts.getByUsername('player')?.account.id, 'id-1');
});

test('unknown accounts are not found', async () => {
  const { accounts } = setUp();
  assert.deepEqual(await accounts.patch('nobody', () => ENABLED, DAEMON), { ok: false, reason: 'not-found' });
  assert.deepEqual(await accounts.remove('nobody'), { ok: false, reason: 'not-found' });
  assert.equal(accounts.get('nobody'), null);
  assert.equal(accounts.getByUsername('nobody'), null);
});

test('memory changes only after the write has succeeded', async () => {
  const { accounts, directory, events, hold, release } = setUp();
  await accounts.add(player);
  hold();
  const updating = accounts.patch('id-1', () => DISABLED, DAEMON);
  assert.equal(directory.byId('id-1')?.isEnabled, true);
  assert.deepEqual(events, []);
  await release('change 1');
  assert.ok((await updating).ok);
  assert.equal(directory.byId('id-1')?.isEnabled, false);
  assert.deepEqual(events, ['player account-disabled']);
});

test('a failed write rejects and does not change memory', async () => {
  const { accounts, directory, events, fail } = setUp();
  await accounts.add(player);
  const before = directory.byId('id-1');
  fail(new Error('disk full'));
  await assert.rejects(accounts.add({ ...player, username: 'other' }), /disk full/);
  await assert.rejects(
    accounts.patch('id-1', () => DISABLED, DAEMON),
    /disk full/,
  );
  await assert.rejects(accounts.remove('id-1'), /disk full/);
  await assert.rejects(accounts.refresh(['id-1']), /disk full/);
  assert.deepEqual(directory.byId('id-1'), before);
  assert.equal(directory.size, 1);
  assert.deepEqual(events, []);
  fail(null);
  assert.ok((await accounts.remove('id-1')).ok, 'a failed change does not block the next one');
});

test('changes of one account are applied in order: a removed account does not reappear', async () => {
  const { accounts, directory, calls, hold, release } = setUp();
  await accounts.add(player);
  hold();
  const both = Promise.all([
    accounts.patch('id-1', () => ENABLED, DAEMON),
    accounts.remove('id-1'),
    accounts.refresh(['id-1']),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(calls.slice(1), ['change 1']);
  for (const name of ['change 1', 'remove', 'getMany']) await release(name);
  await both;
  assert.equal(directory.size, 0);
});

test('changes of different accounts do not wait for each other', async () => {
  const { accounts, hold, release } = setUp();
  await accounts.add(player);
  await accounts.add({ ...player, username: 'other' });
  hold();
  const slow = accounts.patch('id-1', () => ENABLED, DAEMON);
  const quick = accounts.remove('id-2');
  await release('remove');
  assert.ok((await quick).ok);
  await release('change 1');
  await slow;
});

test('a removal ends the sessions before it deletes their heartbeat data', async () => {
  const { accounts, events } = setUp();
  await accounts.add(player);
  await accounts.remove('id-1');
  assert.deepEqual(events, ['player account-removed', 'pool removes id-1']);
});

test('refresh applies the changes of another process', async () => {
  const { accounts, directory, rows, events } = setUp();
  await accounts.add(player);
  const stored = rows.get('id-1');
  assert.ok(stored);
  rows.set('id-1', { ...stored, isEnabled: false });
  rows.set('id-9', { ...stored, id: 'id-9', username: 'other' });
  await accounts.refresh(['id-1', 'id-9']);
  assert.deepEqual(
    accounts.list().map(({ account }) => [account.username, account.isEnabled]),
    [
      ['player', false],
      ['other', true],
    ],
  );
  rows.delete('id-1');
  await accounts.refresh(['id-1']);
  assert.equal(directory.byUsername('player'), undefined);
  assert.deepEqual(events, ['player account-disabled', 'player account-removed', 'pool removes id-1']);
});

test('a view carries the statistics of the pool', async () => {
  const { accounts } = setUp();
  await accounts.add(player);
  for (const view of [accounts.get('id-1'), accounts.getByUsername('player'), accounts.list()[0]]) {
    assert.deepEqual([view?.dataCount, view?.latestGameId], [7, 'ARENA']);
  }
});

test('an account that is listed twice waits for its turn once', async () => {
  const { accounts } = setUp();
  await accounts.add(player);
  await accounts.refresh(['id-1', 'id-1']);
  assert.ok((await accounts.patch('id-1', () => ENABLED, DAEMON)).ok, 'nothing waits for its turn for ever');
});

test('a change of record and limits is one write and one event', async () => {
  const { accounts, calls, changes } = setUp();
  await accounts.add(player);
  const by = { name: 'test', via: 'cli', address: null } as const;
  const change = {
    remarks: 'r',
    limits: { maxSessions: 2, quotaPeriod: 'day', egressClass: 'friends' },
  } as const;
  const changed = await accounts.patch('id-1', () => change, by);
  assert.deepEqual(calls, ['add', 'change 1']);
  assert.deepEqual(
    changes.map(({ before, after }) => [
      before?.limits.maxSessions,
      after?.limits.maxSessions,
      after?.remarks,
    ]),
    [
      [undefined, null, null],
      [null, 2, 'r'],
    ],
  );
  assert.ok(changed.ok && changed.account.limits.quotaPeriod === 'day');
});

test('an unknown egress class is refused, unless the account already has it', async () => {
  const { accounts, rows } = setUp();
  const by = { name: 'test', via: 'cli', address: null } as const;
  const reason = 'unknown-egress-class';
  const limits = { egressClass: 'strangers' };
  assert.deepEqual(await accounts.add({ ...player, limits }), { ok: false, reason });
  await accounts.add(player);
  assert.deepEqual(await accounts.patch('id-1', () => ({ limits }), by), { ok: false, reason });
  const changeOf = () => ({ remarks: 'r', limits });
  assert.deepEqual(await accounts.patchMany([{ id: 'id-1', changeOf }], by), []);
  const row = rows.get('id-1');
  assert.ok(row);
  rows.set('id-1', { ...row, limits: { ...NO_LIMITS, ...limits } });
  await accounts.refresh(['id-1']);
  assert.ok((await accounts.patch('id-1', () => ({ limits: { ...limits, maxSessions: 3 } }), by)).ok);
  assert.deepEqual(rows.get('id-1')?.limits, { ...NO_LIMITS, ...limits, maxSessions: 3 });
});

for (const [what, stored, expiresAt] of [
  ['an expiry', { expiresAt: NOW + 5, daysFromFirstLogin: null }, NOW + 5],
  ['other days', { daysFromFirstLogin: 2 }, NOW + 2 * DAY_MS],
] as const) {
  test(`the first login keeps ${what} that another process has just set`, async () => {
    const { accounts, rows, directory } = setUp();
    const added = await accounts.add({ ...player, daysFromFirstLogin: 30 });
    assert.ok(added.ok);
    const { id } = added.account;
    rows.set(id, { ...added.account, ...stored });
    await accounts.firstLogin(id, NOW);
    for (const account of [rows.get(id), directory.byId(id)]) {
      assert.deepEqual([account?.expiresAt, account?.daysFromFirstLogin], [expiresAt, null]);
    }
  });
}
