// Changes that are computed from the stored account or operator: another process may have changed it since this one read it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/core/accounts/account.js';
import { DAEMON } from '../../src/core/audit/audit.js';
import { createAdminCredentials } from '../../src/core/auth/admin-credentials.js';
import { type Operator, operatorSettingsPrefix } from '../../src/core/auth/operator.js';
import { createOperators } from '../../src/core/auth/operators.js';
import { createSecondFactor } from '../../src/core/auth/second-factor.js';
import { totpCode, totpStep } from '../../src/core/auth/totp.js';
import type { Store } from '../../src/store/store.js';
import { quickPasswords } from '../helpers/passwords.js';
import { accountOf, addAccount, changeAccount } from '../helpers/stored-accounts.js';
import { fromBase32 } from '../helpers/totp.js';
import { onEachDatabase } from './databases.js';
import { account } from './helpers.js';

onEachDatabase('changes that two processes compute from an account at once are all made', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const { id } = await addAnn(store);
  const added = Array.from({ length: 20 }, (_, number) => String(number + 10));
  const adding = added.map((tag, index) =>
    (index % 2 === 0 ? store : other).accounts.changeMany([
      { id, after: (stored) => ({ ...stored, tags: [...stored.tags, tag] }) },
    ]),
  );
  await Promise.all(adding);
  const ann = await accountOf(store.accounts, id);
  assert.deepEqual([...(ann?.tags ?? [])].sort(), added);
});

onEachDatabase('changes and a removal are decided on the stored account, all or none', async (open) => {
  const { store } = await open();
  const { id } = await addAnn(store);
  const bob = account({ username: 'bob' });
  await addAccount(store.accounts, bob);
  const tagBob = { id: bob.id, after: (stored: Account) => ({ ...stored, tags: ['new'] }) };
  const none = await store.accounts.changeMany([{ id, after: () => null }]);
  assert.deepEqual(none, []);
  const refuse = ({ remarks }: Account): never => {
    throw new Error(`not with these remarks: ${remarks}`);
  };
  await assert.rejects(store.accounts.changeMany([tagBob, { id, after: refuse }]), /remarks: first/);
  assert.deepEqual((await accountOf(store.accounts, bob.id))?.tags, [], 'the other change is rolled back');
  const unlessFirst = ({ remarks }: Account) => (remarks === 'first' ? 'kept' : null);
  assert.equal(await store.accounts.removeMany([id], DAEMON, unlessFirst), 'kept');
  await changeAccount(store.accounts, id, { remarks: 'second' });
  const removed = await store.accounts.removeMany([id], DAEMON, unlessFirst);
  assert.equal(typeof removed === 'object' && removed[0]?.id, id);
  assert.deepEqual(await store.accounts.removeMany([id], DAEMON, unlessFirst), []);
});

async function addAnn(store: Store): Promise<Account> {
  const ann = account({ username: 'ann', remarks: 'first' });
  await addAccount(store.accounts, ann);
  return ann;
}

onEachDatabase('a change of an operator keeps what another process has changed of it', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const [here, there] = [store, other].map(operatorsOf);
  assert.ok(here && there);
  const added = await here.create({ name: 'kim', password: 'a good password', role: 'seller' }, DAEMON);
  assert.ok(added.ok);
  const { id } = added.operator;
  await there.reload();
  const budget = { accounts: 1 };
  await there.change(id, { isEnabled: false, password: 'another password', budget }, DAEMON);
  const renamed = await here.change(id, { name: 'lee', budget: { days: 2 } }, DAEMON);
  assert.ok(renamed.ok);
  assert.deepEqual(
    [renamed.operator.name, renamed.operator.isEnabled, renamed.operator.budget],
    ['lee', false, { accounts: 1, days: 2, bytes: null }],
  );
  await there.reload();
  assert.deepEqual(there.get(id), renamed.operator);
  const refusal = await here.setPassword(id, added.operator.passwordHash, 'a new password', DAEMON, false);
  assert.equal(refusal, 'wrong-password');
  await here.renewHash(id, added.operator.passwordHash, 'not written');
  assert.equal(
    await here.setPassword(id, renamed.operator.passwordHash, 'a new password', DAEMON, false),
    null,
  );
  await here.create({ name: 'max', password: 'a good password', role: 'viewer' }, DAEMON);
  const taken = await there.change(id, { name: 'max' }, DAEMON);
  assert.deepEqual(taken, { ok: false, reason: 'name-taken' }, 'this process has not read of the name yet');
});

onEachDatabase('a change that takes access away removes the console sessions with it', async (open) => {
  const { store } = await open();
  const operators = operatorsOf(store);
  const added = await operators.create(
    { name: 'kim', password: 'a good password', role: 'operator' },
    DAEMON,
  );
  assert.ok(added.ok);
  const { id } = added.operator;
  const session = {
    username: 'kim',
    address: '::1',
    createdAt: 0,
    usedAt: 0,
    confirmedAt: 0,
    credentials: 'c',
  };
  const put = (hash: string, operator: Operator | null) =>
    store.consoleSessions.add({ ...session, hash, operatorId: operator?.id ?? null }, operator);
  const stored = async () => (await store.consoleSessions.all()).map(({ hash }) => hash);
  await put('admin', null);
  for (const change of [{ name: 'lee' }, { role: 'viewer' }, { isEnabled: false }] as const) {
    const before = operators.get(id);
    assert.ok(await put('kim', before));
    await operators.change(id, { budget: { days: 1 } }, DAEMON);
    assert.equal((await stored()).length, 2, 'the change of a budget ends no session');
    await operators.change(id, change, DAEMON);
    assert.deepEqual(await stored(), ['admin'], JSON.stringify(change));
    assert.ok(!(await put('late', before)), 'a sign-in that began before the change');
  }
  await operators.change(id, { isEnabled: true }, DAEMON);

  const { settings } = store;
  const object = { type: 'operator', id, name: 'lee' } as const;
  const factor = createSecondFactor({
    settings,
    now: () => 60_000,
    prefix: operatorSettingsPrefix(id),
    object,
  });
  const offered = await factor.enrol('lee');
  const code = totpCode(fromBase32(offered?.secret ?? ''), totpStep(60_000));
  const credentials = createAdminCredentials({ settings, passwords: quickPasswords() });
  const changes = [
    () => operators.change(id, { password: 'a new password' }, DAEMON),
    () => factor.confirm(code, DAEMON),
    () => factor.disable(DAEMON),
  ];
  for (const change of changes) {
    await put('kim', operators.get(id));
    await change();
    assert.deepEqual(await stored(), ['admin'], String(change));
  }
  await credentials.ensure({ username: 'admin', password: 'a good password' });
  await put('admin', null);
  await credentials.ensure({ username: 'root' });
  assert.deepEqual(await stored(), [], 'another name from the environment');
});

const operatorsOf = (store: Store) =>
  createOperators({
    store: store.operators,
    passwords: quickPasswords(),
    isReserved: () => false,
    newId: randomUUID,
    now: () => 0,
  });
