// Accounts in a real database: adding, changing, and removing with everything that belongs to them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { UsernameTaken } from '../../src/core/accounts/account-store.js';
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
  assert.equal(await store.accounts.add(full), 'added');
  assert.deepEqual(await store.accounts.get(full.id), full);
  assert.deepEqual(await store.accounts.getByUsername(full.username), full);
  await store.close();
  const { store: reopened } = await open({ database });
  assert.deepEqual(await reopened.accounts.all(), [full]);
});

onEachDatabase('user names are unique and case-sensitive', async (open) => {
  const { store } = await open();
  const first = account({ username: 'Ann' });
  assert.equal(await store.accounts.add(first), 'added');
  assert.equal(await store.accounts.add(account({ username: 'Ann' })), 'username-taken');
  assert.equal(await store.accounts.add(account({ username: 'ann' })), 'added');
  assert.deepEqual(await store.accounts.getByUsername('Ann'), first);
});

onEachDatabase('adding an account with an existing id is an error, not a taken name', async (open, kind) => {
  const { store } = await open();
  const id = randomUUID();
  await store.accounts.add(account({ id }));
  await assert.rejects(store.accounts.add(account({ id, username: 'other' })), {
    code: kind === 'pg' ? '23505' : 'SQLITE_CONSTRAINT',
  });
  assert.equal(await store.accounts.add(account()), 'added', 'later writes succeed');
});

onEachDatabase('of several concurrent adds of one name, one succeeds', async (open) => {
  const { store } = await open();
  const outcomes = await Promise.all([1, 2, 3].map(() => store.accounts.add(account({ username: 'one' }))));
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
      await store.accounts.add(account({ username, createdAt }));
    }
    const names = (await store.accounts.all()).map((each) => each.username);
    assert.deepEqual(names, ['early', 'tie-1', 'tie-2', 'tie-3', 'late']);
  },
);

onEachDatabase('an update writes its fields and keeps the password unless one is given', async (open) => {
  const { store } = await open();
  const before = account({ remarks: 'old', expiresAt: 5 });
  await store.accounts.add(before);
  const fields = {
    isEnabled: false,
    remarks: null,
    tags: ['a', 'b'],
    expiresAt: null,
    daysFromFirstLogin: 3,
    plan: 'p',
  };
  assert.deepEqual(await store.accounts.update(before.id, fields), { ...before, ...fields });
  const after = await store.accounts.update(before.id, { ...fields, isEnabled: true, passwordHash: 'new' });
  const changed = { isEnabled: true, passwordHash: 'new', passwordVersion: 1 };
  assert.deepEqual(after, { ...before, ...fields, ...changed });
  assert.deepEqual(await store.accounts.get(before.id), after);
});

onEachDatabase(
  'an account can be renamed; a name that another account has undoes the whole change',
  async (open) => {
    const { store } = await open();
    const one = account({ username: 'one' });
    const other = account({ username: 'other' });
    await store.accounts.add(one);
    await store.accounts.add(other);
    await store.heartbeats.append([heartbeat(one)], KEEP_ALL);
    const renamed = await store.accounts.update(one.id, { username: 'ONE', remarks: 'new' });
    assert.deepEqual(renamed, { ...one, username: 'ONE', remarks: 'new' });
    assert.equal(await store.accounts.getByUsername('one'), null);
    const taken = store.accounts.updateMany([
      { id: one.id, fieldsOf: () => ({ remarks: 'lost' }) },
      { id: other.id, fieldsOf: () => ({ username: 'ONE' }) },
    ]);
    await assert.rejects(taken, UsernameTaken);
    assert.deepEqual(await store.accounts.get(one.id), renamed);
    assert.equal((await store.heartbeats.newest(one.id, 10)).length, 1);
    await store.accounts.remove(one.id);
    assert.equal(
      (await store.heartbeats.newest(one.id, 10)).length,
      0,
      'entries from before the new name are removed with the account',
    );
  },
);

onEachDatabase('every method returns null for an unknown account', async (open) => {
  const { store } = await open();
  const id = randomUUID();
  assert.equal(await store.accounts.get(id), null);
  assert.equal(await store.accounts.getByUsername('nobody'), null);
  assert.equal(await store.accounts.update(id, { isEnabled: true, remarks: null, expiresAt: null }), null);
  assert.equal(await store.accounts.remove(id), null);
});

onEachDatabase('removing an account deletes its heartbeat data and frees its name', async (open) => {
  const { store } = await open();
  const [removed, kept] = [account({ username: 'removed' }), account()];
  await store.accounts.add(removed);
  await store.accounts.add(kept);
  await store.heartbeats.append([heartbeat(removed), heartbeat(kept)], KEEP_ALL);
  assert.deepEqual(await store.accounts.remove(removed.id), removed);
  assert.equal(await store.accounts.get(removed.id), null);
  assert.deepEqual(await store.heartbeats.newest(removed.id, 10), []);
  assert.deepEqual(await store.heartbeats.totals(), [{ accountId: kept.id, count: 1, latestGameId: null }]);
  const successor = account({ username: 'removed' });
  assert.equal(await store.accounts.add(successor), 'added');
  assert.deepEqual(await store.heartbeats.newest(successor.id, 10), []);
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
    await store.accounts.add(kept);
    await store.heartbeats.append([heartbeat(kept, { gameId: 'G' })], KEEP_ALL);
    const otherConnection = connect();
    for (const statement of REFUSE_REMOVAL[kind]) await otherConnection.raw(statement);
    const changesBefore = await otherConnection('changes').count({ n: '*' });

    await assert.rejects(store.accounts.remove(kept.id), /refused/);

    assert.deepEqual(await store.accounts.get(kept.id), kept);
    assert.equal((await store.heartbeats.newest(kept.id, 10)).length, 1);
    assert.deepEqual(await store.heartbeats.totals(), [{ accountId: kept.id, count: 1, latestGameId: 'G' }]);
    assert.deepEqual(await otherConnection('changes').count({ n: '*' }), changesBefore);
    await otherConnection.raw(kind === 'pg' ? 'drop trigger refuse on accounts' : 'drop trigger refuse');
    assert.deepEqual(await store.accounts.remove(kept.id), kept);
  },
);

onEachDatabase(
  'many last logins are saved at once; earlier times and unknown ids change nothing',
  async (open) => {
    const { store } = await open();
    const accounts = Array.from({ length: 1000 }, () => account({ lastLoginAt: 500 }));
    for (const each of accounts) await store.accounts.add(each);
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
    assert.equal((await store.accounts.get(first.id))?.lastLoginAt, 2000);
  },
);

onEachDatabase('a password hash is replaced only if it is still the one that was verified', async (open) => {
  const { store } = await open();
  const each = account({ passwordHash: 'bare' });
  await store.accounts.add(each);
  await store.accounts.rehash(each.id, 'other', 'salted');
  assert.equal((await store.accounts.get(each.id))?.passwordHash, 'bare');
  await store.accounts.rehash(each.id, 'bare', 'salted');
  assert.equal((await store.accounts.get(each.id))?.passwordHash, 'salted');
});

onEachDatabase('an authorized address belongs to one account, also after concurrent writes', async (open) => {
  const { store, database } = await open();
  const [one, two] = [account({ authorizedAddresses: ['203.0.113.0/24', '2001:db8::1'] }), account()];
  await store.accounts.addMany([one, two]);
  assert.deepEqual(await store.accounts.get(one.id), one);
  const taken = store.accounts.update(two.id, { authorizedAddresses: ['203.0.113.7'], remarks: 'x' });
  await assert.rejects(taken, { name: 'AddressTaken', entry: '203.0.113.7', accountId: one.id });
  assert.equal(
    (await store.accounts.get(two.id))?.remarks,
    null,
    'no part of the refused change was written',
  );
  const { store: other } = await open({ database });
  const outcomes = await Promise.allSettled([
    store.accounts.update(one.id, { authorizedAddresses: ['198.51.100.0/25'] }),
    other.accounts.update(two.id, { authorizedAddresses: ['198.51.100.9'] }),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const exchanged = await store.accounts.updateMany([
    { id: one.id, fieldsOf: () => ({ authorizedAddresses: ['192.0.2.1'] }) },
    { id: two.id, fieldsOf: () => ({ authorizedAddresses: ['198.51.100.9'] }) },
  ]);
  assert.deepEqual(
    exchanged.map(({ authorizedAddresses }) => authorizedAddresses),
    [['192.0.2.1'], ['198.51.100.9']],
  );
  await store.accounts.remove(one.id);
  assert.ok(await store.accounts.update(two.id, { authorizedAddresses: ['192.0.2.0/24'] }));
});
