// Changes of accounts and operators that another process has changed since this one read them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { accountOf } from '../../src/core/accounts/account-input.js';
import { ChangedMeanwhile } from '../../src/core/accounts/account-store.js';
import { DAEMON } from '../../src/core/audit/audit.js';
import { createOperators } from '../../src/core/auth/operators.js';
import type { Store } from '../../src/store/store.js';
import { onEachEngine } from './engines.js';

onEachEngine('a change and a removal for an older version of an account are refused', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const fields = { username: 'ann', password: 'word', isEnabled: true, remarks: null, expiresAt: null };
  const account = accountOf(fields, randomUUID(), 0);
  const { id } = account;
  await store.accounts.add(account);
  await other.accounts.update(id, { remarks: 'of the other process' });
  const isCurrent = ({ remarks }: { readonly remarks: string | null }) => remarks === account.remarks;
  const tags = ['new'];
  await assert.rejects(
    store.accounts.updateMany([{ id, fields: { tags, limits: { maxSessions: 1 } }, isCurrent }]),
    ChangedMeanwhile,
  );
  await assert.rejects(store.accounts.remove(id, DAEMON, isCurrent), ChangedMeanwhile);
  const isOfOther = ({ remarks }: { readonly remarks: string | null }) => remarks === 'of the other process';
  const [changed] = await store.accounts.updateMany([{ id, fields: { tags }, isCurrent: isOfOther }]);
  assert.deepEqual(
    [changed?.remarks, changed?.tags, changed?.limits.maxSessions],
    ['of the other process', tags, null],
  );
  assert.ok(await store.accounts.remove(id, DAEMON, isOfOther));
});

onEachEngine('a change of an operator keeps what another process has changed of it', async (open) => {
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
  assert.deepEqual(await here.setPassword(id, 'a good password', 'a new password', DAEMON), {
    ok: false,
    reason: 'wrong-password',
  });
  assert.ok((await here.setPassword(id, 'another password', 'a new password', DAEMON)).ok);
  await here.create({ name: 'max', password: 'a good password', role: 'viewer' }, DAEMON);
  const taken = await there.change(id, { name: 'max' }, DAEMON);
  assert.deepEqual(taken, { ok: false, reason: 'name-taken' }, 'this process has not read of the name yet');
});

const operatorsOf = (store: Store) =>
  createOperators({
    store: store.operators,
    isReserved: () => false,
    newId: randomUUID,
    now: () => 0,
  });
