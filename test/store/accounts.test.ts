// Accounts in a real database: adding, changing, and removing with everything that belongs to them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { UsernameTaken } from '../../src/core/accounts/account-store.js';
import {
  accountNamed,
  accountOf,
  addAccount,
  afterChange,
  changeAccount,
} from '../helpers/stored-accounts.js';
import { newestOf } from '../helpers/stored-heartbeats.js';
import { onEachDatabase } from './databases.js';
import { account, heartbeat, KEEP_ALL } from './helpers.js';

onEachDatabase('an added account is read back unchanged, also by a store opened later', async (open) => {
  const { store, database } = await open();
  const full = account({
    username: '玩家 "one"; drop table accounts; --',
    remarks: '',
    tags: ['vip', '月付'],
    daysFromFirstLogin: 30,
    plan: '月付 50 GB',
    isEnabled: false,
    lastLoginAt: 1_700_000_000_001,
    expiresAt: 253_402_300_799_999,
  });
  assert.equal(await addAccount(store.accounts, full), 'added');
  assert.deepEqual(await accountOf(store.accounts, full.id), full);
  assert.deepEqual(await accountNamed(store.accounts, full.username), full);
  await store.close();
  const { store: reopened } = await open({ database });
  assert.deepEqual(await reopened.accounts.all(), [full]);
});

onEachDatabase('user names are unique and case-sensitive', async (open) => {
  const { store } = await open();
  const first = account({ username: 'Ann' });
  assert.equal(await addAccount(store.accounts, first), 'added');
  assert.equal(await addAccount(store.accounts, account({ username: 'Ann' })), 'username-taken');
  assert.equal(await addAccount(store.accounts, account({ username: 'ann' })), 'added');
  assert.deepEqual(await accountNamed(store.accounts, 'Ann'), first);
});

onEachDatabase('adding an account with an existing id is an error, not a taken name', async (open, kind) => {
  const { store } = await open();
  const id = randomUUID();
  await addAccount(store.accounts, account({ id }));
  await assert.rejects(addAccount(store.accounts, account({ id, username: 'other' })), {
    code: kind === 'pg' ? '23505' : 'SQLITE_CONSTRAINT',
  });
  assert.equal(await addAccount(store.accounts, account()), 'added', 'later writes succeed');
});

onEachDatabase('of several concurrent adds of one name, one succeeds', async (open) => {
  const { store } = await open();
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => addAccount(store.accounts, account({ username: 'one' }))),
  );
  assert.deepEqual(outcomes.sort(), ['added', 'username-taken', 'username-taken']);
});

onEachDatabase(
  'accounts are listed in the order of their creation times, then of insertion',
  async (open) => {
    const { store } = await open();
    for (const [username, createdAt] of [
      ['late', 30],
      ['tie-1', 20],
      ['tie-2', 20],
      ['early', 10],
      ['tie-3', 20],
    ] as const) {
      await addAccount(store.accounts, account({ username, createdAt }));
    }
    const names = (await store.accounts.all()).map((each) => each.username);
    assert.deepEqual(names, ['early', 'tie-1', 'tie-2', 'tie-3', 'late']);
  },
);

onEachDatabase('all accounts are read, also those of a page that is exactly full', async (open) => {
  const { store } = await open();
  // One more than a page, most of them made at the same time.
  const accounts = Array.from({ length: 2_001 }, (_, i) => account({ createdAt: Math.min(i, 10) }));
  await store.accounts.addMany(accounts);
  assert.deepEqual(await store.accounts.all(), accounts);
  const [first, ...others] = accounts;
  await store.accounts.removeMany([first?.id ?? '']);
  assert.deepEqual(await store.accounts.all(), others);
});

onEachDatabase('an update writes its fields and keeps the password unless one is given', async (open) => {
  const { store } = await open();
  const before = account({ remarks: 'old', expiresAt: 5 });
  await addAccount(store.accounts, before);
  const fields = {
    isEnabled: false,
    remarks: null,
    tags: ['a', 'b'],
    expiresAt: null,
    daysFromFirstLogin: 3,
    plan: 'p',
  };
  assert.deepEqual(await changeAccount(store.accounts, before.id, fields), { ...before, ...fields });
  const after = await changeAccount(store.accounts, before.id, {
    ...fields,
    isEnabled: true,
    passwordHash: 'new',
  });
  const changed = { isEnabled: true, passwordHash: 'new', passwordVersion: 1 };
  assert.deepEqual(after, { ...before, ...fields, ...changed });
  assert.deepEqual(await accountOf(store.accounts, before.id), after);
});

onEachDatabase(
  'an account can be renamed; a name that another account has undoes the whole change',
  async (open) => {
    const { store } = await open();
    const one = account({ username: 'one' });
    const other = account({ username: 'other' });
    await addAccount(store.accounts, one);
    await addAccount(store.accounts, other);
    await store.heartbeats.append([heartbeat(one)], KEEP_ALL);
    const renamed = await changeAccount(store.accounts, one.id, { username: 'ONE', remarks: 'new' });
    assert.deepEqual(renamed, { ...one, username: 'ONE', remarks: 'new' });
    assert.equal(await accountNamed(store.accounts, 'one'), null);
    const taken = store.accounts.changeMany([
      { id: one.id, after: afterChange({ remarks: 'lost' }) },
      { id: other.id, after: afterChange({ username: 'ONE' }) },
    ]);
    await assert.rejects(taken, UsernameTaken);
    assert.deepEqual(await accountOf(store.accounts, one.id), renamed);
    assert.equal((await newestOf(store, one.id, 10)).length, 1);
    await store.accounts.removeMany([one.id]);
    assert.equal(
      (await newestOf(store, one.id, 10)).length,
      0,
      'entries from before the new name are removed with the account',
    );
  },
);

onEachDatabase('every method returns null for an unknown account', async (open) => {
  const { store } = await open();
  const id = randomUUID();
  assert.equal(await accountOf(store.accounts, id), null);
  assert.equal(await accountNamed(store.accounts, 'nobody'), null);
  assert.equal(
    await changeAccount(store.accounts, id, { isEnabled: true, remarks: null, expiresAt: null }),
    null,
  );
  assert.deepEqual(await store.accounts.removeMany([id]), []);
});

onEachDatabase('removing an account deletes its heartbeat data and frees its name', async (open) => {
  const { store } = await open();
  const [removed, kept] = [account({ username: 'removed' }), account()];
  await addAccount(store.accounts, removed);
  await addAccount(store.accounts, kept);
  await store.heartbeats.append([heartbeat(removed), heartbeat(kept)], KEEP_ALL);
  assert.deepEqual(await store.accounts.removeMany([removed.id]), [removed]);
  assert.equal(await accountOf(store.accounts, removed.id), null);
  assert.deepEqual(await newestOf(store, removed.id, 10), []);
  assert.deepEqual(await store.heartbeats.totals(), [{ accountId: kept.id, count: 1, latestGameId: null }]);
  const successor = account({ username: 'removed' });
  assert.equal(await addAccount(store.accounts, successor), 'added');
  assert.deepEqual(await newestOf(store, successor.id, 10), []);
});

const REFUSE_REMOVAL = {
  sqlite3: [`create trigger refuse before delete on accounts begin select raise(abort, 'refused'); end`],
  pg: [
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    'create trigger refuse before delete on accounts for each row execute function refuse()',
  ],
};

onEachDatabase(
  'a removal that fails halfway leaves account and heartbeat data unchanged',
  async (open, kind) => {
    const { store, connect } = await open();
    const kept = account();
    await addAccount(store.accounts, kept);
    await store.heartbeats.append([heartbeat(kept, { gameId: 'G' })], KEEP_ALL);
    const otherConnection = connect();
    for (const statement of REFUSE_REMOVAL[kind]) await otherConnection.raw(statement);
    const changesBefore = await otherConnection('changes').count({ n: '*' });

    await assert.rejects(store.accounts.removeMany([kept.id]), /refused/);

    assert.deepEqual(await accountOf(store.accounts, kept.id), kept);
    assert.equal((await newestOf(store, kept.id, 10)).length, 1);
    assert.deepEqual(await store.heartbeats.totals(), [{ accountId: kept.id, count: 1, latestGameId: 'G' }]);
    assert.deepEqual(await otherConnection('changes').count({ n: '*' }), changesBefore);
    await otherConnection.raw(kind === 'pg' ? 'drop trigger refuse on accounts' : 'drop trigger refuse');
    assert.deepEqual(await store.accounts.removeMany([kept.id]), [kept]);
  },
);

onEachDatabase(
  'many last logins are saved at once; earlier times and unknown ids change nothing',
  async (open) => {
    const { store } = await open();
    const accounts = Array.from({ length: 1000 }, () => account({ lastLoginAt: 500 }));
    await store.accounts.addMany(accounts);
    await store.accounts.saveLogins([]);
    await store.accounts.saveLogins([
      ...accounts.map((each, index) => ({ id: each.id, at: index })),
      { id: randomUUID(), at: 9000 },
    ]);
    const saved = await store.accounts.all();
    assert.deepEqual(
      saved.map((each) => each.lastLoginAt),
      accounts.map((_, index) => Math.max(500, index)),
    );
    const [first] = accounts;
    assert.ok(first);
    await store.accounts.saveLogins([3, 2000, 7].map((at) => ({ id: first.id, at })));
    assert.equal((await accountOf(store.accounts, first.id))?.lastLoginAt, 2000);
  },
);

onEachDatabase('a password hash is replaced only if it is still the one that was verified', async (open) => {
  const { store } = await open();
  const each = account({ passwordHash: 'bare' });
  await addAccount(store.accounts, each);
  await store.accounts.rehash(each.id, 'other', 'salted');
  assert.equal((await accountOf(store.accounts, each.id))?.passwordHash, 'bare');
  await store.accounts.rehash(each.id, 'bare', 'salted');
  assert.equal((await accountOf(store.accounts, each.id))?.passwordHash, 'salted');
});

onEachDatabase('an authorized address belongs to one account, also after concurrent writes', async (open) => {
  const { store, database } = await open();
  const [one, two] = [account({ authorizedAddresses: ['203.0.113.0/24', '2001:db8::1'] }), account()];
  await store.accounts.addMany([one, two]);
  assert.deepEqual(await accountOf(store.accounts, one.id), one);
  const taken = changeAccount(store.accounts, two.id, { authorizedAddresses: ['203.0.113.7'], remarks: 'x' });
  await assert.rejects(taken, { name: 'AddressTaken', entry: '203.0.113.7', accountId: one.id });
  assert.equal(
    (await accountOf(store.accounts, two.id))?.remarks,
    null,
    'no part of the refused change was written',
  );
  const { store: other } = await open({ database });
  const outcomes = await Promise.allSettled([
    changeAccount(store.accounts, one.id, { authorizedAddresses: ['198.51.100.0/25'] }),
    changeAccount(other.accounts, two.id, { authorizedAddresses: ['198.51.100.9'] }),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const exchanged = await store.accounts.changeMany([
    { id: one.id, after: afterChange({ authorizedAddresses: ['192.0.2.1'] }) },
    { id: two.id, after: afterChange({ authorizedAddresses: ['198.51.100.9'] }) },
  ]);
  assert.deepEqual(
    exchanged.map(({ authorizedAddresses }) => authorizedAddresses),
    [['192.0.2.1'], ['198.51.100.9']],
  );
  await store.accounts.removeMany([one.id]);
  assert.ok(await changeAccount(store.accounts, two.id, { authorizedAddresses: ['192.0.2.0/24'] }));
});
