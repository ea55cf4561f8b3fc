// The secrets of second factors are encrypted under a key outside the database, and a wrong key is named.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkDatabase } from '../../src/cli/doctor/database.js';
import { loadConfig } from '../../src/config.js';
import { DAEMON } from '../../src/core/audit/audit.js';
import { createAdminCredentials } from '../../src/core/auth/admin-credentials.js';
import { openSecret, sealSecret } from '../../src/core/auth/sealed.js';
import { totpCode, totpStep } from '../../src/core/auth/totp.js';
import { createSettings } from '../../src/core/settings/setting.js';
import { openAuth, openTotpKeys } from '../../src/parts/auth.js';
import { openStore } from '../../src/store/store.js';
import { logInto } from '../helpers/admin.js';
import { quickPasswords } from '../helpers/passwords.js';
import { fromBase32 } from '../helpers/totp.js';

test('a sealed secret opens only with its key, in its place, and unchanged', () => {
  const [key, other, secret] = [randomBytes(32), randomBytes(32), randomBytes(20)];
  const text = sealSecret(key, 'admin.totp', secret);
  assert.deepEqual(openSecret(key, 'admin.totp', text), secret);
  assert.notEqual(sealSecret(key, 'admin.totp', secret), text, 'a nonce of its own');
  for (const [by, name, of] of [
    [other, 'admin.totp', text],
    [null, 'admin.totp', text],
    [key, 'operator.x.totp', text],
    [key, 'admin.totp', `${text.slice(0, -8)}AAAAAAA=`],
    [key, 'admin.totp', text.slice(0, 30)],
  ] as const) {
    assert.equal(openSecret(by, name, of), null);
  }
  assert.deepEqual(openSecret(null, 'admin.totp', secret.toString('base64')), secret, 'of an older version');
});

/** A data folder, and the parts of a daemon on it that know second factors. */
async function world(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-totp-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const file = join(dataDir, 'config.yaml');
  await writeFile(file, `dataDir: ${dataDir}\n`);
  const loaded = await loadConfig({ file, env: {}, defaultFiles: [] });
  const options = { client: 'auto', dataDir, busyTimeoutMs: 5_000 } as const;
  let now = Date.now();
  const lines: Record<string, unknown>[] = [];
  return {
    keyFile: join(dataDir, 'totp-key'),
    lines,
    now: () => now,
    /** Lets the code be another one. */
    pass() {
      now += 60_000;
    },
    async start() {
      const store = await openStore(options);
      const [settings, passwords] = [createSettings(), quickPasswords()];
      const credentials = await settings.open(
        createAdminCredentials({ settings: store.settings, passwords }),
      );
      await credentials.set('admin', 'admin password');
      const core = { store, settings, passwords, credentials };
      const { principals } = await openAuth({
        config: loaded.config,
        core,
        log: logInto(lines),
        now: () => now,
      });
      const factor = principals.get(null)?.secondFactor;
      assert.ok(factor);
      return { store, factor };
    },
    async findings() {
      const found = await checkDatabase(loaded);
      return found.filter(({ check }) => check === 'second factors');
    },
  };
}

test('a secret is encrypted with a key that is made when it is needed, and read with it after a restart', async (t) => {
  const { start, keyFile, findings, lines, pass, now } = await world(t);
  const { store, factor } = await start();
  await assert.rejects(stat(keyFile), { code: 'ENOENT' });
  assert.deepEqual(await findings(), []);
  const enrolled = await factor.enrol('admin');
  const secret = fromBase32(enrolled?.secret ?? '');
  const code = () => totpCode(secret, totpStep(now()));
  assert.equal(await factor.confirm(code(), DAEMON), 'on');
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  const stored = (await store.settings.get('admin.totp')) ?? '';
  assert.match(stored, /^aes-256-gcm\$/);
  assert.ok(!stored.includes(secret.toString('base64')));
  await store.close();

  pass();
  const again = await start();
  assert.equal(await again.factor.verify(code()), true);
  assert.deepEqual(await findings(), [{ check: 'second factors', state: 'ok', text: 'readable' }]);
  await again.store.close();

  const key = await readFile(keyFile, 'utf8');
  let unreadable = 0;
  for (const [what, here] of [
    [
      `${'0'.repeat(64)}\n`,
      /^encrypted with another key: the administrator \([0-9a-f]{16}\); the key here is /,
    ],
    [null, /; there is no key here\. .*second-factor-off/],
  ] as const) {
    if (what === null) await rm(keyFile);
    else await writeFile(keyFile, what);
    const { store, factor } = await start();
    pass();
    assert.equal(factor.isEnabled(), true, 'it is not switched off');
    assert.equal(await factor.verify(code()), false);
    assert.match((await findings())[0]?.text ?? '', here);
    assert.equal(lines.length, ++unreadable, 'the log says so');
    await store.close();
  }
  await writeFile(keyFile, key);
  pass();
  const restored = await start();
  assert.equal(await restored.factor.verify(code()), true, 'with the key back');
  await rm(keyFile);
  assert.equal(await restored.factor.disable(DAEMON), true);
  assert.deepEqual(await findings(), []);
  await restored.store.close();
});

test('a secret of an older version is encrypted at the start; its sessions last', async (t) => {
  const { start, lines, now } = await world(t);
  const secret = randomBytes(20);
  const first = await start();
  await first.store.settings.set('admin.totp', secret.toString('base64'));
  await first.factor.reload();
  const fingerprint = first.factor.fingerprint();
  await first.store.close();
  const { store, factor } = await start();
  assert.match((await store.settings.get('admin.totp')) ?? '', /^aes-256-gcm\$/);
  assert.equal(factor.fingerprint(), fingerprint);
  assert.equal(await factor.verify(totpCode(secret, totpStep(now()))), true);
  assert.deepEqual(lines, []);
  await store.close();
});

test('a key is taken from the configured file, or the systemd credential; PostgreSQL makes none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-totp-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { config } = await loadConfig({ file: undefined, env: {}, defaultFiles: [] });
  const open = (totpKeyFile: string | null, client: 'pg' | 'auto' = 'auto') =>
    openTotpKeys(
      {
        admin: { ...config.admin, totpKeyFile },
        dataDir: join(folder, 'data'),
        database: { ...config.database, client },
      },
      { CREDENTIALS_DIRECTORY: folder },
    );
  assert.equal(await (await open(null, 'pg')).keyForNew(), null);
  const file = join(folder, 'key');
  await assert.rejects(open(file), /admin\.totpKeyFile: there is no file/);
  await writeFile(file, 'short');
  await assert.rejects(open(file), /64 hexadecimal digits/);
  await writeFile(file, `${'1'.repeat(64)}\n`);
  assert.equal((await open(file, 'pg')).key()?.toString('hex'), '1'.repeat(64));
  await writeFile(join(folder, 'totp-key'), '2'.repeat(64));
  assert.equal((await open(null)).key()?.toString('hex'), '2'.repeat(64), 'the credential');
});
