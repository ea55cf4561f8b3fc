// The passwords of the administrator and operators: how they are stored, how often they are derived, and what is remembered.
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { describe, it } from 'node:test';
import { hashPassword } from '../../../src/core/accounts/access/password.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { createAdminCredentials } from '../../../src/core/auth/admin-credentials.js';
import type { Operator, OperatorStore } from '../../../src/core/auth/operator.js';
import { createOperators } from '../../../src/core/auth/operators.js';
import {
  createPeoplePasswords,
  PASSWORD_ROUNDS,
  PasswordChecksBusy,
  type PeoplePasswords,
} from '../../../src/core/auth/people-passwords.js';
import { openPrincipals } from '../../../src/core/auth/principals.js';
import { NO_TOTP_KEYS } from '../../../src/core/auth/totp.js';
import { quickPasswords } from '../../helpers/passwords.js';

it('a new hash has 600,000 rounds of PBKDF2-HMAC-SHA256 and a salt of its own', async () => {
  const passwords = createPeoplePasswords({ maxAtOnce: 1, maxWaiting: 1 });
  const stored = await passwords.hash('pass:wörd:口令');
  const [form, rounds, salt = '', digest] = stored.split('$');
  assert.deepEqual([form, rounds, PASSWORD_ROUNDS], ['pbkdf2-sha256', '600000', 600_000]);
  const derived = pbkdf2Sync('pass:wörd:口令', Buffer.from(salt, 'hex'), 600_000, 32, 'sha256');
  assert.equal(derived.toString('hex'), digest);
  assert.notEqual(
    (await quickPasswords().hash('x')).split('$')[2],
    (await quickPasswords().hash('x')).split('$')[2],
  );
});

it('a check that is one too many is refused, and the others run a few at a time', async () => {
  // Enough rounds that the first check still runs when the others are asked for.
  const passwords = createPeoplePasswords({ maxAtOnce: 1, maxWaiting: 2, rounds: 20_000 });
  const asked = Array.from({ length: 4 }, (_, i) => passwords.hash(String(i)));
  const results = await Promise.allSettled(asked);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  );
  assert.ok(results[3]?.status === 'rejected' && results[3].reason instanceof PasswordChecksBusy);
  assert.match(await passwords.hash('later'), /^pbkdf2/, 'places become free again');
});

describe('sign-ins', () => {
  it('cost one derivation, whether name, password or neither is right; accepted ones then cost none', async () => {
    const { verify, recall, derivations } = await world();
    for (const [name, password, isRight] of [
      ['admin', 'wrong password', false],
      ['kim', 'wrong password', false],
      ['nobody', 'admin password', false],
      ['admin', 'kims password', false],
      ['kim', 'kims password', true],
      ['admin', 'admin password', true],
    ] as const) {
      assert.equal(recall(name, password), null, `${name} ${password}`);
      const before = derivations();
      assert.equal((await verify(name, password))?.name, isRight ? name : undefined);
      assert.equal(derivations() - before, 1, `${name} ${password}`);
      assert.equal(recall(name, password)?.name, isRight ? name : undefined);
    }
    const before = derivations();
    await verify('kim', 'kims password');
    assert.equal(derivations(), before);
    assert.equal(recall('nobody', 'admin password'), null);
    assert.equal(recall('admin', 'kims password'), null);
  });

  it('with a password that this process has just set cost none', async () => {
    const { recall, operators, kim } = await world();
    assert.ok((await operators.change(kim.id, { password: 'a new password' }, DAEMON)).ok);
    assert.equal(recall('kim', 'a new password')?.name, 'kim');
    assert.equal(recall('kim', 'kims password'), null);
    await operators.change(kim.id, { isEnabled: false }, DAEMON);
    assert.equal(recall('kim', 'a new password'), null);
  });

  it('equal requests at the same time cost one derivation', async () => {
    const { verify, derivations } = await world();
    const before = derivations();
    const verified = await Promise.all(Array.from({ length: 50 }, () => verify('kim', 'kims password')));
    assert.ok(verified.every((principal) => principal?.name === 'kim'));
    assert.equal(derivations() - before, 1);
  });

  for (const [what, change] of Object.entries({
    'a new password': { password: 'another password' },
    'a new name': { name: 'lee' },
    'another role': { role: 'viewer' },
    'a disabled operator': { isEnabled: false },
  } as const)) {
    it(`${what} makes the accepted password forgotten, also after a change back by another process`, async () => {
      const { verify, recall, operators, other, kim } = await world();
      assert.ok(await verify('kim', 'kims password'));
      assert.ok(recall('kim', 'kims password'));
      await other.reload();
      await other.change(kim.id, change, DAEMON);
      await operators.reload();
      assert.equal(recall('kim', 'kims password'), null);
      const back = { name: 'kim', role: 'operator', isEnabled: true, password: 'kims password' } as const;
      await other.change(kim.id, back, DAEMON);
      await operators.reload();
      assert.equal(recall('kim', 'kims password'), null);
      assert.ok(await verify('kim', 'kims password'));
    });
  }

  it('of a removed operator, and with an old name or password of the administrator, are refused', async () => {
    const { verify, operators, credentials, kim } = await world();
    assert.ok((await verify('kim', 'kims password')) && (await verify('admin', 'admin password')));
    await operators.remove(kim.id, DAEMON);
    assert.equal(await verify('kim', 'kims password'), null);
    await credentials.set('boss', 'admin password');
    assert.equal(await verify('admin', 'admin password'), null);
    assert.ok(await verify('boss', 'admin password'));
    await credentials.set('boss', 'another password');
    assert.equal(await verify('boss', 'admin password'), null);
  });

  it('compare a given password with the stored one only after the start, and never accept the one that it replaces', async () => {
    const { verify, recall, credentials, settings, audits, derivations } = await world();
    const stored = settings.get('admin.credentials');
    let before = derivations();
    await credentials.ensure({ password: 'admin password' });
    assert.equal(derivations(), before, 'the start does not wait for it');
    assert.ok(recall('admin', 'admin password'), 'the given password is right at once');
    await credentials.settle();
    assert.deepEqual([settings.get('admin.credentials'), derivations() - before], [stored, 1]);
    const entries = audits.length;
    await credentials.ensure({ password: 'given password' });
    assert.equal(await verify('admin', 'admin password'), null);
    assert.ok(recall('admin', 'given password'));
    assert.notEqual(settings.get('admin.credentials'), stored);
    assert.equal(audits.length, entries + 1);
    before = derivations();
    await credentials.settle();
    assert.equal(derivations(), before, 'compared once');
  });

  it('renew a hash of an older form: after the right password, once, and without an entry in the audit log', async () => {
    const { verify, operators, credentials, stored, audits, kim, settings } = await world();
    stored.set(kim.id, { ...kim, passwordHash: hashPassword('kims password') });
    await operators.reload();
    const old = JSON.stringify({ username: 'admin', passwordHash: hashPassword('admin password') });
    settings.set('admin.credentials', old);
    await credentials.reload();
    const entries = audits.length;
    assert.equal(await verify('kim', 'wrong password'), null);
    assert.equal(await verify('admin', 'wrong password'), null);
    assert.match(stored.get(kim.id)?.passwordHash ?? '', /^sha256\$/);
    assert.equal(settings.get('admin.credentials'), old);
    assert.ok((await verify('kim', 'kims password')) && (await verify('admin', 'admin password')));
    assert.match(stored.get(kim.id)?.passwordHash ?? '', /^pbkdf2-sha256\$/);
    assert.match(settings.get('admin.credentials') ?? '', /"pbkdf2-sha256\$/);
    assert.equal(audits.length, entries);
    const [renewed, ofAdmin] = [stored.get(kim.id), settings.get('admin.credentials')];
    assert.ok((await verify('kim', 'kims password')) && (await verify('admin', 'admin password')));
    assert.deepEqual([stored.get(kim.id), settings.get('admin.credentials')], [renewed, ofAdmin]);
    await operators.reload();
    assert.ok(await verify('kim', 'kims password'), 'the renewed hash is right');
  });
});

/** An administrator, the operator kim, and a second process on the same store. */
async function world() {
  let derivations = 0;
  const quick = quickPasswords();
  const passwords: PeoplePasswords = {
    ...quick,
    check(...args) {
      derivations += 1;
      return quick.check(...args);
    },
  };
  const stored = new Map<string, Operator>();
  const settings = new Map<string, string>();
  const audits: unknown[] = [];
  const store: OperatorStore = {
    all: async () => [...stored.values()],
    async add(operator) {
      stored.set(operator.id, operator);
    },
    async update(id, change) {
      const before = stored.get(id);
      if (!before) return null;
      const next = change(before);
      if (typeof next === 'string') return next;
      stored.set(id, next.operator);
      if (next.audit) audits.push(next.audit);
      return next.operator;
    },
    remove: async (id) => stored.delete(id),
  };
  const settingStore = {
    get: async (key: string) => settings.get(key) ?? null,
    async set(key: string, value: string) {
      settings.set(key, value);
    },
    async exchange(key: string, current: string | null, next: string, audit?: unknown) {
      if ((settings.get(key) ?? null) !== current) return false;
      settings.set(key, next);
      if (audit) audits.push(audit);
      return true;
    },
    raise: async () => true,
  };
  const operatorsOf = (of: PeoplePasswords) =>
    createOperators({ store, passwords: of, isReserved: () => false, newId: () => 'kims-id', now: () => 0 });
  const operators = operatorsOf(passwords);
  const credentials = createAdminCredentials({ settings: settingStore, passwords });
  await credentials.set('admin', 'admin password');
  const other = operatorsOf(quickPasswords());
  // Another process makes the operator, so that this one remembers no password.
  const created = await other.create({ name: 'kim', role: 'operator', password: 'kims password' }, DAEMON);
  assert.ok(created.ok);
  await operators.reload();
  const principals = await openPrincipals({
    ...{ credentials, operators, passwords, settings: settingStore },
    async open(setting) {
      await setting.reload();
      return setting;
    },
    now: () => 0,
    totpKeys: NO_TOTP_KEYS,
    onUnreadable() {},
    onError(error) {
      throw error;
    },
  });
  return {
    ...{ ...principals, operators, credentials, stored, settings, audits, kim: created.operator },
    other,
    derivations: () => derivations,
  };
}
