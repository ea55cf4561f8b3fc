// The transaction that writes accounts charges the seller's budget, also under concurrent requests, and changes only the seller's.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NO_BUDGET, NO_COST, OverBudget } from '../../src/core/accounts/plans/budget.js';
import { NO_LIMITS } from '../../src/core/accounts/usage/limits.js';
import { DAEMON } from '../../src/core/audit/audit.js';
import { RightsLost } from '../../src/core/auth/operator.js';
import { accountOf, addAccount, changeAccount } from '../helpers/stored-accounts.js';
import { onEachDatabase } from './databases.js';
import { account } from './helpers.js';

onEachDatabase('two processes with a budget of five accounts add five', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const seller = {
    ...{
      id: randomUUID(),
      name: 'shop',
      passwordHash: 'h',
      role: 'seller' as const,
      isEnabled: true,
      createdAt: 1,
    },
    budget: { ...NO_BUDGET, accounts: 5 },
    used: NO_COST,
  } as const;
  const object = { type: 'operator', id: seller.id, name: 'shop' } as const;
  await store.operators.add(seller, {
    by: DAEMON,
    action: 'operator.create',
    object,
    before: null,
    after: null,
  });
  const by = { name: 'shop', via: 'console', address: '::1', operatorId: seller.id } as const;
  const tries = Array.from({ length: 20 }, (_, i) =>
    addAccount((i % 2 ? other : store).accounts, account({ owner: seller.id }), by).catch(
      (error: unknown) => error,
    ),
  );
  const outcomes = await Promise.all(tries);
  assert.equal(outcomes.filter((one) => one === 'added').length, 5);
  assert.equal(outcomes.filter((one) => one instanceof OverBudget).length, 15);
  assert.equal((await store.accounts.all()).length, 5, 'refused accounts are not stored');
  const [storedSeller] = await store.operators.all();
  assert.deepEqual(storedSeller?.used, { ...NO_COST, accounts: 5 });

  const [own] = await store.accounts.all();
  const id = own?.id ?? '';
  await changeAccount(store.accounts, id, { owner: null });
  assert.equal(
    await changeAccount(store.accounts, id, { remarks: 'late' }, by),
    null,
    'the account has another owner meanwhile',
  );
  assert.deepEqual(await store.accounts.removeMany([id], by), []);
  await changeAccount(store.accounts, id, { owner: seller.id });
  assert.equal((await changeAccount(store.accounts, id, { remarks: 'own' }, by))?.remarks, 'own');
  await store.operators.remove(seller.id, {
    by: DAEMON,
    action: 'operator.delete',
    object,
    before: null,
    after: null,
  });
  assert.equal(
    (await accountOf(store.accounts, id))?.owner,
    null,
    "the account is the administrator's again",
  );
  await assert.rejects(store.accounts.removeMany([id], by), RightsLost, 'the seller was removed meanwhile');
});

onEachDatabase(
  'without a bound the used part of a budget grows up to the largest exact number',
  async (open) => {
    const { store } = await open();
    const id = randomUUID();
    const object = { type: 'operator', id, name: 'shop' } as const;
    const audit = { by: DAEMON, action: 'operator.create', object, before: null, after: null } as const;
    const seller = {
      id,
      name: 'shop',
      passwordHash: 'h',
      role: 'seller',
      isEnabled: true,
      createdAt: 1,
    } as const;
    await store.operators.add({ ...seller, budget: NO_BUDGET, used: NO_COST }, audit);
    const by = { name: 'shop', via: 'console', address: '::1', operatorId: id } as const;
    const limits = { ...NO_LIMITS, quotaBytes: Number.MAX_SAFE_INTEGER, quotaPeriod: 'never' } as const;
    // Sellers write "never" as the last day of 9999, which costs 8,000 years.
    const expiresAt = Date.parse('9999-12-31T23:59:59Z');
    const accounts = Array.from({ length: 40 }, () => account({ owner: id, limits, expiresAt }));
    for (const each of [accounts.slice(0, 20), accounts.slice(20)]) await store.accounts.addMany(each, by);
    const [stored] = await store.operators.all();
    const most = Number.MAX_SAFE_INTEGER;
    assert.deepEqual(stored?.used, { accounts: 40, ms: most, bytes: most });
  },
);

onEachDatabase('a change that grants used traffic again is charged for it', async (open) => {
  const now = Date.parse('2026-11-21T20:00:00Z');
  const { store } = await open({ now: () => now });
  const id = randomUUID();
  const object = { type: 'operator', id, name: 'shop' } as const;
  const base = {
    id,
    name: 'shop',
    passwordHash: 'h',
    role: 'seller',
    isEnabled: true,
    createdAt: 1,
  } as const;
  await store.operators.add(
    { ...base, budget: { ...NO_BUDGET, bytes: 400 }, used: NO_COST },
    { by: DAEMON, action: 'operator.create', object, before: null, after: null },
  );
  const by = { name: 'shop', via: 'console', address: '::1', operatorId: id } as const;
  const usedBytes = async () => (await store.operators.all())[0]?.used.bytes;
  const inDays = (days: number) => now + days * 86_400_000;
  const daily = { ...NO_LIMITS, quotaBytes: 3, quotaPeriod: 'day' } as const;
  const player = account({ owner: id, limits: daily, expiresAt: inDays(29) });
  await addAccount(store.accounts, player, by);
  assert.equal(await usedBytes(), 90);
  await changeAccount(store.accounts, player.id, { expiresAt: inDays(0.1), limits: { quotaBytes: 90 } }, by);
  const today = store.calendar.dayOf(now);
  await store.traffic.add(
    [{ accountId: player.id, day: today, bytesUp: 90, bytesDown: 0, sessions: 1 }],
    1,
    32,
  );
  const before = (await usedBytes()) ?? 0;
  await changeAccount(store.accounts, player.id, { expiresAt: inDays(29), limits: { quotaBytes: 3 } }, by);
  assert.equal((await usedBytes()) ?? 0, before + 29 * 3, 'all days but the one that was used');
  await assert.rejects(
    changeAccount(store.accounts, player.id, { limits: { quotaBytes: 200, quotaPeriod: 'never' } }, by),
    OverBudget,
  );
  await changeAccount(store.accounts, player.id, { limits: { quotaBytes: 90, quotaPeriod: 'never' } }, by);
  assert.equal((await usedBytes()) ?? 0, before + 29 * 3 + 90, 'another period costs a quota at least');
});

onEachDatabase(
  'an operator that was removed, disabled or demoted meanwhile changes no account',
  async (open) => {
    const { store } = await open();
    const base = { passwordHash: 'h', createdAt: 1, budget: NO_BUDGET, used: NO_COST };
    const object = { type: 'operator', id: null, name: null } as const;
    const audit = { by: DAEMON, action: 'operator.create', object, before: null, after: null } as const;
    const add = async (role: 'operator' | 'seller' | 'viewer', isEnabled: boolean) => {
      const id = randomUUID();
      await store.operators.add({ ...base, id, name: id, role, isEnabled }, audit);
      return id;
    };
    const actor = (operatorId: string) =>
      ({ name: 'shop', via: 'console', address: '::1', operatorId }) as const;
    const { accounts, playerLinks } = store;
    const operatorId = await add('operator', true);
    const kept = account();
    assert.equal(await addAccount(accounts, kept, actor(operatorId)), 'added');
    const link = { hash: 'sha256$l', createdAt: 1 };
    for (const former of [randomUUID(), await add('viewer', true), await add('operator', false)]) {
      const by = actor(former);
      await assert.rejects(addAccount(accounts, account(), by), {
        name: 'RightsLost',
        reason: 'rights-lost',
      });
      await assert.rejects(changeAccount(accounts, kept.id, { remarks: 'late' }, by), RightsLost);
      await assert.rejects(accounts.removeMany([kept.id], by), RightsLost);
      await assert.rejects(changeAccount(accounts, kept.id, { link }, by), RightsLost);
      await assert.rejects(playerLinks.revoke(kept, by), RightsLost);
    }
    const seller = await add('seller', true);
    await assert.rejects(
      addAccount(accounts, account(), actor(seller)),
      { reason: 'not-own-account' },
      'an operator that became a seller',
    );
    await assert.rejects(addAccount(accounts, account({ owner: randomUUID() }), DAEMON), {
      reason: 'owner-gone',
    });
    await assert.rejects(changeAccount(accounts, kept.id, { owner: randomUUID() }, DAEMON), RightsLost);
    assert.deepEqual(await accounts.all(), [kept], 'refused changes were not made');
    assert.equal(await accounts.findByLink(link.hash), null);

    await changeAccount(accounts, kept.id, { owner: seller, link }, DAEMON);
    assert.equal(await accounts.findByLink(link.hash), kept.id);
    await changeAccount(accounts, kept.id, { owner: await add('seller', true) });
    assert.equal(await playerLinks.revoke(kept, actor(seller)), false);
    assert.equal(
      await changeAccount(accounts, kept.id, { link: null }, actor(seller)),
      null,
      'another seller',
    );
  },
);
