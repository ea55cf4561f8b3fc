// The key of the secrets of second factors: a file, a systemd credential, or made in the data folder where it is first needed.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configError } from '../config/config-error.js';
import type { Config } from '../config.js';
import { SEAL_KEY_BYTES } from '../core/auth/sealed.js';
import type { TotpKeys } from '../core/auth/totp.js';
import { codeOf } from '../core/errors.js';

/** The name of the systemd credential, and of the file in the data folder. */
const NAME = 'totp-key';

/** Reads `admin.totpKeyFile`, else the systemd credential, else the file of the data folder. Throws ConfigError for an invalid key. */
export async function openTotpKeys(
  { admin, dataDir, database }: Pick<Config, 'admin' | 'dataDir' | 'database'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TotpKeys> {
  const own = join(dataDir, NAME);
  const credentials = env['CREDENTIALS_DIRECTORY'];
  const given = admin.totpKeyFile;
  let key =
    given === null
      ? ((credentials ? await readKey(join(credentials, NAME)) : null) ?? (await readKey(own)))
      : await readKey(given);
  if (given !== null && key === null) throw configError('admin.totpKeyFile', `there is no file ${given}`);

  async function make(): Promise<Buffer> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const created = randomBytes(SEAL_KEY_BYTES);
    try {
      await writeFile(own, `${created.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
      return created;
    } catch (error) {
      const made = codeOf(error) === 'EEXIST' ? await readKey(own) : null;
      if (made === null) throw error;
      return made;
    }
  }

  return {
    key: () => key,
    async keyForNew() {
      // With PostgreSQL several nodes may need the same key.
      if (key === null && database.client !== 'pg') key = await make();
      return key;
    },
  };
}

async function readKey(file: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw configError(file, `the TOTP key cannot be read (${codeOf(error) ?? 'unknown error'})`, error);
  }
  if (!/^[0-9a-f]{64}$/i.test(text.trim()))
    throw configError(file, 'is not a TOTP key: expected 64 hexadecimal digits (openssl rand -hex 32)');
  return Buffer.from(text.trim(), 'hex');
}
