// Two stores on one database: each reads the changes of the other once and in order, and not its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAccount, changeAccount } from '../helpers/stored-accounts.js';
import { onEachDatabase, opener } from './databases.js';
import { account, heartbeat, KEEP_ALL } from './helpers.js';

const FIELDS = { isEnabled: true, remarks: null, expiresAt: null };

onEachDatabase('a store reads the changes of another store once, oldest first', async (open) => {
  const { store: daemon, database } = await open();
  const { store: command } = await open({ database });
  const [one, two] = [account(), account()];
  await addAccount(command.accounts, one);
  await command.settings.set('whitelist', '127.0.0.1');
  await changeAccount(command.accounts, one.id, FIELDS);
  await addAccount(daemon.accounts, two);
  await command.accounts.removeMany([one.id]);
  assert.deepEqual(await daemon.changes.next(), [
    { topic: 'account', key: one.id },
    { topic: 'setting', key: 'whitelist' },
    { topic: 'account', key: one.id },
    { topic: 'account', key: one.id },
  ]);
  assert.deepEqual(await daemon.changes.next(), []);
  assert.deepEqual(await command.changes.next(), [{ topic: 'account', key: two.id }]);
});

onEachDatabase('a store does not read changes from before it was opened', async (open) => {
  const { store: first, database } = await open();
  await addAccount(first.accounts, account());
  const { store: second } = await open({ database });
  assert.deepEqual(await second.changes.next(), []);
});

onEachDatabase('concurrent calls never return a change twice', async (open) => {
  const { store: daemon, database } = await open();
  const { store: command } = await open({ database });
  for (let n = 0; n < 5; n++) await command.settings.set(`key-${n}`, 'value');
  const batches = await Promise.all([daemon.changes.next(), daemon.changes.next(), daemon.changes.next()]);
  assert.equal(batches.flat().length, 5);
});

onEachDatabase('a write without effect, a login and heartbeat entries are no changes', async (open) => {
  const { store: daemon, database } = await open();
  const known = account();
  await addAccount(daemon.accounts, known);
  const { store: command } = await open({ database });
  await addAccount(command.accounts, account({ username: known.username }));
  await changeAccount(command.accounts, account().id, FIELDS);
  await command.accounts.removeMany([account().id]);
  await command.accounts.saveLogins([{ id: known.id, at: 5 }]);
  await command.heartbeats.append([heartbeat(known)], KEEP_ALL);
  assert.deepEqual(await daemon.changes.next(), []);
});

test('changes older than an hour are deleted, and later ones still arrive', async (t) => {
  const open = opener(t, 'sqlite3');
  let now = 1_700_000_000_000;
  const { store: daemon, database, connect } = await open({ now: () => now });
  const { store: command } = await open({ database, now: () => now });
  await command.settings.set('first', '1');
  now += 60 * 60 * 1000 + 1;
  await command.settings.set('second', '2');
  assert.deepEqual((await daemon.changes.next()).at(-1), { topic: 'setting', key: 'second' });
  const rows = await connect()('changes').pluck('key');
  assert.deepEqual(rows, ['second']);
});

onEachDatabase('a change with an unknown topic, of a newer version, is ignored', async (open) => {
  const { store, connect } = await open();
  await connect()('changes').insert({ topic: 'weather', key: 'x', origin: 'other', at: Date.now() });
  assert.deepEqual(await store.changes.next(), []);
});

onEachDatabase('a setting is null until it is set, and then has its last value', async (open) => {
  const { store } = await open();
  assert.equal(await store.settings.get('whitelist'), null);
  await store.settings.set('whitelist', '10.*');
  await store.settings.set('whitelist', '');
  assert.equal(await store.settings.get('whitelist'), '');
});
