// Accounts in a real SQLite file: adding, changing, and removing with everything that goes with them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { account, connectBeside, heartbeat, KEEP_ALL, openTestStore } from './helpers.js';

test('an account comes back as it was added, also from a store opened later', async (t) => {
  const { store, dataDir } = await openTestStore(t);
  const full = account({
    username: '玩家 "one"; drop table accounts; --',
    remarks: '',
    isEnabled: false,
    lastLoginAt: 1_700_000_000_001,
    expiresAt: 253_402_300_799_999,
  });
  assert.equal(await store.accounts.add(full), 'added');
  assert.deepEqual(await store.accounts.get(full.id), full);
  assert.deepEqual(await store.accounts.getByUsername(full.username), full);
  await store.close();
  const { store: again } = await openTestStore(t, { dataDir });
  assert.deepEqual(await again.accounts.all(), [full]);
});

test('a user name belongs to one account, and case makes a different name', async (t) => {
  const { store } = await openTestStore(t);
  const first = account({ username: 'Ann' });
  assert.equal(await store.accounts.add(first), 'added');
  assert.equal(await store.accounts.add(account({ username: 'Ann' })), 'username-taken');
  assert.equal(await store.accounts.add(account({ username: 'ann' })), 'added');
  assert.deepEqual(await store.accounts.getByUsername('Ann'), first);
});

test('an id that exists is an error, not a taken name', async (t) => {
  const { store } = await openTestStore(t);
  const id = randomUUID();
  await store.accounts.add(account({ id }));
  await assert.rejects(store.accounts.add(account({ id, username: 'other' })), { code: 'SQLITE_CONSTRAINT' });
  assert.equal(await store.accounts.add(account()), 'added', 'the store still takes writes');
});

test('of two adds of one name at the same moment one wins', async (t) => {
  const { store } = await openTestStore(t);
  const outcomes = await Promise.all([1, 2, 3].map(() => store.accounts.add(account({ username: 'one' }))));
  assert.deepEqual(outcomes.sort(), ['added', 'username-taken', 'username-taken']);
});

test('all accounts come in the order of creation, then of insertion', async (t) => {
  const { store } = await openTestStore(t);
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
});

test('an update writes its fields and keeps the password unless one is given', async (t) => {
  const { store } = await openTestStore(t);
  const before = account({ remarks: 'old', expiresAt: 5 });
  await store.accounts.add(before);
  const fields = { isEnabled: false, remarks: null, expiresAt: null };
  assert.deepEqual(await store.accounts.update(before.id, fields), { ...before, ...fields });
  const after = await store.accounts.update(before.id, { ...fields, isEnabled: true, passwordHash: 'new' });
  assert.deepEqual(after, { ...before, ...fields, isEnabled: true, passwordHash: 'new' });
  assert.deepEqual(await store.accounts.get(before.id), after);
});

test('an account that does not exist is null everywhere', async (t) => {
  const { store } = await openTestStore(t);
  const id = randomUUID();
  assert.equal(await store.accounts.get(id), null);
  assert.equal(await store.accounts.getByUsername('nobody'), null);
  assert.equal(await store.accounts.update(id, { isEnabled: true, remarks: null, expiresAt: null }), null);
  assert.equal(await store.accounts.remove(id), null);
});

test('removing takes the heartbeat data along and frees the name', async (t) => {
  const { store } = await openTestStore(t);
  const [gone, stays] = [account({ username: 'gone' }), account()];
  await store.accounts.add(gone);
  await store.accounts.add(stays);
  await store.heartbeats.append([heartbeat(gone), heartbeat(stays)], KEEP_ALL);
  assert.deepEqual(await store.accounts.remove(gone.id), gone);
  assert.equal(await store.accounts.get(gone.id), null);
  assert.deepEqual(await store.heartbeats.newest(gone.id, 10), []);
  assert.deepEqual(await store.heartbeats.totals(), [{ accountId: stays.id, count: 1, latestGameId: null }]);
  const successor = account({ username: 'gone' });
  assert.equal(await store.accounts.add(successor), 'added');
  assert.deepEqual(await store.heartbeats.newest(successor.id, 10), []);
});

test('a removal that fails in the middle leaves heartbeat data and account as they were', async (t) => {
  const { store, file } = await openTestStore(t);
  const kept = account();
  await store.accounts.add(kept);
  await store.heartbeats.append([heartbeat(kept, { gameId: 'G' })], KEEP_ALL);
  const beside = connectBeside(t, file);
  await beside.raw(
    `create trigger refuse before delete on accounts begin select raise(abort, 'refused'); end`,
  );
  const changesBefore = await beside('changes').count({ n: '*' });

  await assert.rejects(store.accounts.remove(kept.id), { code: 'SQLITE_CONSTRAINT' });

  assert.deepEqual(await store.accounts.get(kept.id), kept);
  assert.equal((await store.heartbeats.newest(kept.id, 10)).length, 1);
  assert.deepEqual(await store.heartbeats.totals(), [{ accountId: kept.id, count: 1, latestGameId: 'G' }]);
  assert.deepEqual(await beside('changes').count({ n: '*' }), changesBefore);
  await beside.raw('drop trigger refuse');
  assert.deepEqual(await store.accounts.remove(kept.id), kept);
});

test('logins are saved many at once; older ones and unknown ids change nothing', async (t) => {
  const { store } = await openTestStore(t);
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
});

test('a hash is replaced only if it is still the one that was verified', async (t) => {
  const { store } = await openTestStore(t);
  const each = account({ passwordHash: 'bare' });
  await store.accounts.add(each);
  await store.accounts.rehash(each.id, 'other', 'salted');
  assert.equal((await store.accounts.get(each.id))?.passwordHash, 'bare');
  await store.accounts.rehash(each.id, 'bare', 'salted');
  assert.equal((await store.accounts.get(each.id))?.passwordHash, 'salted');
});
