// Sources of the admin's credentials at the start of the daemon.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readAdminCredentials as read } from '../../src/config/credentials.js';
import { messageOf } from '../helpers/config-file.js';

async function readAdminCredentials(env: Record<string, string>) {
  const { givenBy: _, ...credentials } = await read(env);
  return credentials;
}

describe('admin credentials', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pulsegate-credentials-'));
    await writeFile(join(folder, 'admin-password'), 'from systemd\n');
    await writeFile(join(folder, 'own'), ' from file \r\n');
    await writeFile(join(folder, 'empty'), '\n');
    await mkdir(join(folder, 'none'));
  });
  after(() => rm(folder, { recursive: true }));

  it('are empty when no source is set', async () => {
    assert.deepEqual(await readAdminCredentials({}), {});
    assert.deepEqual(
      await readAdminCredentials({ PULSEGATE_ADMIN_PASSWORD: '', PULSEGATE_ADMIN_USERNAME: '' }),
      {},
    );
  });

  it('come from environment variables', async () => {
    const env = { PULSEGATE_ADMIN_USERNAME: 'root', PULSEGATE_ADMIN_PASSWORD: ' p ' };
    assert.deepEqual(await readAdminCredentials(env), { username: 'root', password: ' p ' });
  });

  it('are reported with their source', async () => {
    const sources = async (env: Record<string, string>) => (await read(env)).givenBy;
    assert.deepEqual(await sources({}), {});
    assert.deepEqual(await sources({ PULSEGATE_ADMIN_USERNAME: 'root', PULSEGATE_ADMIN_PASSWORD: 'p' }), {
      username: 'the variable PULSEGATE_ADMIN_USERNAME',
      password: 'the variable PULSEGATE_ADMIN_PASSWORD',
    });
    const own = join(folder, 'own');
    assert.equal(
      (await sources({ PULSEGATE_ADMIN_PASSWORD_FILE: own })).password,
      `the file ${own} (PULSEGATE_ADMIN_PASSWORD_FILE)`,
    );
    assert.match(
      (await sources({ CREDENTIALS_DIRECTORY: folder })).password ?? '',
      /^the systemd credential admin-password/,
    );
  });

  it('come from a file, without the line break at its end', async () => {
    assert.deepEqual(await readAdminCredentials({ PULSEGATE_ADMIN_PASSWORD_FILE: join(folder, 'own') }), {
      password: ' from file ',
    });
  });

  it('come from systemd, unless an environment variable is set', async () => {
    const env = { CREDENTIALS_DIRECTORY: folder };
    assert.deepEqual(await readAdminCredentials(env), { password: 'from systemd' });
    assert.deepEqual(await readAdminCredentials({ ...env, PULSEGATE_ADMIN_PASSWORD: 'x' }), {
      password: 'x',
    });
    assert.deepEqual(await readAdminCredentials({ CREDENTIALS_DIRECTORY: join(folder, 'none') }), {});
  });

  it('are empty with the blank fallback file of the systemd unit', async () => {
    const blank = join(folder, 'blank');
    await mkdir(blank);
    await writeFile(join(blank, 'admin-password'), '\n');
    assert.deepEqual(await readAdminCredentials({ CREDENTIALS_DIRECTORY: blank }), {});
  });

  it('are refused when a file is missing or empty, or when two sources are set', async () => {
    const missing = messageOf(
      readAdminCredentials({ PULSEGATE_ADMIN_PASSWORD_FILE: join(folder, 'missing') }),
    );
    assert.match(
      await missing,
      /PULSEGATE_ADMIN_PASSWORD_FILE: the file .*missing cannot be read \(ENOENT\)/,
    );
    const empty = messageOf(readAdminCredentials({ PULSEGATE_ADMIN_PASSWORD_FILE: join(folder, 'empty') }));
    assert.match(await empty, /is empty/);
    const both = messageOf(
      readAdminCredentials({ PULSEGATE_ADMIN_PASSWORD_FILE: 'x', PULSEGATE_ADMIN_PASSWORD: 'hunter2' }),
    );
    assert.match(await both, /set only one of them/);
    assert.doesNotMatch(await both, /hunter2/);
  });
});
