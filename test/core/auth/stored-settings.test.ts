// The settings that are cached in memory: the admin credentials and the IP whitelist.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN_CREDENTIALS_KEY } from '../../../src/core/auth/admin-credentials.js';
import { createWhitelistSetting, WHITELIST_KEY } from '../../../src/core/auth/whitelist.js';
import type { SettingStore } from '../../../src/core/settings/setting.js';
import { openCredentials } from '../../helpers/passwords.js';

function memorySettings() {
  const values = new Map<string, string>();
  let writes = 0;
  let failure: Error | null = null;
  const settings: SettingStore = {
    async get(key) {
      if (failure) throw failure;
      return values.get(key) ?? null;
    },
    async set(key, value) {
      if (failure) throw failure;
      writes++;
      values.set(key, value);
    },
    async exchange(key, current, next) {
      if (failure) throw failure;
      if ((values.get(key) ?? null) !== current) return false;
      writes++;
      values.set(key, next);
      return true;
    },
  };
  return {
    settings,
    values,
    writes: () => writes,
    fail: () => {
      failure = new Error('disk full');
    },
  };
}

test('the first start generates a random password, shows it once and stores only its hash', async () => {
  const { settings, values } = memorySettings();
  const credentials = openCredentials({ settings });
  assert.equal(
    await credentials.verify('admin', ''),
    false,
    'no login succeeds before there are credentials',
  );
  const generated = await credentials.ensure({});
  assert.equal(generated?.username, 'admin');
  assert.match(generated?.password ?? '', /^[\w-]{24}$/);
  assert.ok(await credentials.verify('admin', generated?.password ?? ''));
  const beforeStore = await openCredentials({ settings }).ensure({});
  assert.notEqual(beforeStore?.password, generated?.password, 'the first password is not stored yet');
  await generated?.store();
  assert.doesNotMatch(JSON.stringify([...values]), new RegExp(generated?.password ?? ''));
  assert.equal(await credentials.ensure({}), null, 'a password is generated only once');
  const other = await openCredentials(memorySettings()).ensure({});
  assert.notEqual(other?.password, generated?.password);
});

test('only the exact user name and password log in', async () => {
  const { settings } = memorySettings();
  const credentials = openCredentials({ settings });
  await credentials.ensure({ username: 'root', password: 'pass:word' });
  assert.ok(await credentials.verify('root', 'pass:word'));
  for (const [username, password] of [
    ['root', 'pass'],
    ['root', 'pass:word '],
    ['root', ''],
    ['', 'pass:word'],
    ['Root', 'pass:word'],
    ['admin', 'pass:word'],
    ['root:pass', 'word'],
  ] as const) {
    assert.equal(await credentials.verify(username, password), false, `${username}:${password}`);
  }
});

test('configured credentials replace the stored name or password, and are written only if they differ', async () => {
  const { settings, writes } = memorySettings();
  const credentials = openCredentials({ settings, newPassword: () => 'random' });
  const generated = await credentials.ensure({ username: 'root' });
  assert.deepEqual([generated?.username, generated?.password], ['root', 'random']);
  await generated?.store();
  assert.equal(await credentials.ensure({ password: 'configured' }), null);
  await credentials.settle();
  assert.ok(await credentials.verify('root', 'configured'));
  assert.equal(await credentials.ensure({ username: 'boss' }), null);
  assert.ok(await credentials.verify('boss', 'configured'));
  assert.equal(writes(), 3);
  await credentials.ensure({ username: 'boss', password: 'configured' });
  await credentials.ensure({});
  assert.equal(writes(), 3);
});

for (const configured of [
  { username: '' },
  { username: 'a:b' },
  { username: 'a\n' },
  { password: '' },
  { password: ' ' },
  { password: 'x'.repeat(256) },
]) {
  test(`the start fails with the credentials ${JSON.stringify(configured).slice(0, 40)}`, async () => {
    const { settings, writes } = memorySettings();
    await assert.rejects(openCredentials({ settings }).ensure(configured), RangeError);
    assert.equal(writes(), 0);
  });
}

test('set changes the password, and the user name if one is given', async () => {
  const { settings } = memorySettings();
  const credentials = openCredentials({ settings });
  await credentials.ensure({ username: 'root', password: 'old' });
  assert.deepEqual(await credentials.set(undefined, 'new password'), { ok: true, username: 'root' });
  assert.ok((await credentials.verify('root', 'new password')) && !(await credentials.verify('root', 'old')));
  assert.deepEqual(await credentials.set('boss', 'newer password'), { ok: true, username: 'boss' });
  assert.ok(
    (await credentials.verify('boss', 'newer password')) &&
      !(await credentials.verify('root', 'newer password')),
  );
  assert.deepEqual(await credentials.set('a:b', 'long enough'), { ok: false, reason: 'invalid-username' });
  assert.deepEqual(await credentials.set(undefined, ''), { ok: false, reason: 'invalid-password' });
  assert.deepEqual(await credentials.set(undefined, 'seven77'), { ok: false, reason: 'short-password' });
  assert.ok(await credentials.verify('boss', 'newer password'));
  assert.ok(
    (await credentials.set(undefined, '密码密码密码密码')).ok,
    'the minimum length counts characters, not bytes',
  );
});

test('every process knows the source of the credentials of the last start', async () => {
  const { settings } = memorySettings();
  const givenBy = () => openCredentials({ settings }).givenBy();
  assert.deepEqual(await givenBy(), {});
  const daemon = openCredentials({ settings });
  await daemon.ensure({ password: 'configured', givenBy: { password: 'a file' } });
  assert.deepEqual(await givenBy(), { password: 'a file' });
  await daemon.ensure({});
  assert.deepEqual(await givenBy(), {});
});

test('reload applies the credentials of another process; unreadable credentials refuse all logins', async () => {
  const { settings, values } = memorySettings();
  const daemon = openCredentials({ settings });
  await daemon.ensure({ password: 'old' });
  await openCredentials({ settings }).set(undefined, 'new password');
  assert.ok(await daemon.verify('admin', 'old'));
  await daemon.reload();
  assert.ok((await daemon.verify('admin', 'new password')) && !(await daemon.verify('admin', 'old')));
  for (const damaged of ['', '{', 'null', '[]', '{"username":"admin"}', '{"username":1,"passwordHash":2}']) {
    values.set(ADMIN_CREDENTIALS_KEY, damaged);
    await daemon.reload();
    assert.equal(await daemon.verify('admin', 'new password'), false, damaged);
  }
});

test('credentials that could not be stored are not used', async () => {
  const { settings, fail } = memorySettings();
  const credentials = openCredentials({ settings });
  await credentials.ensure({ password: 'old' });
  fail();
  await assert.rejects(credentials.set('admin', 'new password'), /disk full/);
  assert.ok(
    (await credentials.verify('admin', 'old')) && !(await credentials.verify('admin', 'new password')),
  );
});

test('the whitelist refuses all until it is loaded, and allows all when it was never set', async () => {
  const { settings } = memorySettings();
  const whitelist = createWhitelistSetting(settings);
  assert.equal(whitelist.allows('127.0.0.1'), false);
  await whitelist.reload();
  assert.equal(whitelist.text(), '');
  assert.equal(whitelist.allows('203.0.113.1'), true);
});

test('a saved whitelist applies immediately, keeps its text, and survives a restart', async () => {
  const { settings, values } = memorySettings();
  const whitelist = createWhitelistSetting(settings);
  await whitelist.reload();
  const text = ' 10.0.0.0/8，\n ::1 ';
  assert.deepEqual(await whitelist.save(text), { ok: true });
  assert.equal(whitelist.text(), text);
  assert.deepEqual(['10.1.1.1', '::1', '11.0.0.1', 'unknown'].map(whitelist.allows), [
    true,
    true,
    false,
    false,
  ]);
  assert.equal(values.get(WHITELIST_KEY), text);
  const restarted = createWhitelistSetting(settings);
  await restarted.reload();
  assert.equal(restarted.allows('11.0.0.1'), false);
});

test('a failed read or write keeps the old whitelist', async () => {
  const { settings, values, fail } = memorySettings();
  const whitelist = createWhitelistSetting(settings);
  await whitelist.save('10.0.0.1');
  assert.deepEqual(await whitelist.save('10.0.0.1, x, 300.1.1.1'), {
    ok: false,
    badEntries: ['x', '300.1.1.1'],
  });
  values.set(WHITELIST_KEY, 'damaged');
  await assert.rejects(whitelist.reload(), /damaged/);
  fail();
  await assert.rejects(whitelist.save('*'), /disk full/);
  await assert.rejects(whitelist.reload(), /disk full/);
  assert.deepEqual(
    [whitelist.text(), whitelist.allows('10.0.0.1'), whitelist.allows('10.0.0.2')],
    ['10.0.0.1', true, false],
  );
});

test('a longer or shorter user name is another name', async () => {
  const { settings } = memorySettings();
  const credentials = openCredentials({ settings });
  const longest = 'x'.repeat(255);
  await credentials.ensure({ username: longest, password: 'p' });
  assert.ok(await credentials.verify(longest, 'p'));
  for (const other of [`${longest}x`, longest.slice(1), `${longest.slice(1)}\0`, '']) {
    assert.equal(await credentials.verify(other, 'p'), false);
  }
  await credentials.set('名', 'password');
  assert.ok(await credentials.verify('名', 'password'));
  for (const other of ['名\0', '\u540e', '名'.repeat(300)])
    assert.equal(await credentials.verify(other, 'password'), false);
});

test('credentials that were accepted before are refused after a change', async () => {
  const { settings } = memorySettings();
  const credentials = openCredentials({ settings });
  await credentials.ensure({ password: 'old password' });
  for (let i = 0; i < 3; i++) assert.ok(await credentials.verify('admin', 'old password'));
  assert.equal(
    await credentials.verify('admino', 'ld password'),
    false,
    'the same characters, split elsewhere',
  );
  await credentials.set('boss', 'old password');
  assert.equal(await credentials.verify('admin', 'old password'), false);
  assert.ok(await credentials.verify('boss', 'old password'));
  await openCredentials({ settings }).set('boss', 'new password');
  await credentials.reload();
  assert.equal(await credentials.verify('boss', 'old password'), false);
});
