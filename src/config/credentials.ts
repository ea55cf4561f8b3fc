// Reads the administrator's credentials from the environment, a file or systemd. They override those in the database.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CredentialSources, GivenCredentials } from '../core/auth/admin-credentials.js';
import { codeOf } from '../core/errors.js';
import { configError } from './config-error.js';

/** The name of the systemd credential (`LoadCredential=admin-password:…`). */
const SYSTEMD_CREDENTIAL = 'admin-password';
const MAX_BYTES = 4096;

/**
 * Reads the user name from PULSEGATE_ADMIN_USERNAME, and the password from the first of PULSEGATE_ADMIN_PASSWORD, the file
 * PULSEGATE_ADMIN_PASSWORD_FILE and the systemd credential `admin-password`. A trailing line break of a file is not part of
 * the password. `givenBy` names the sources, for error messages and logs.
 * @throws ConfigError when the file cannot be read or is empty, or when both password variables are set
 */
export async function readAdminCredentials(
  env: Readonly<Record<string, string | undefined>>,
): Promise<GivenCredentials & { readonly givenBy: CredentialSources }> {
  const username = env['PULSEGATE_ADMIN_USERNAME'];
  const given = await readPassword(env);
  return {
    ...(username ? { username } : {}),
    ...(given ? { password: given.password } : {}),
    givenBy: {
      ...(username ? { username: 'the variable PULSEGATE_ADMIN_USERNAME' } : {}),
      ...(given ? { password: given.by } : {}),
    },
  };
}

async function readPassword(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly password: string; readonly by: string } | undefined> {
  const text = env['PULSEGATE_ADMIN_PASSWORD'];
  const file = env['PULSEGATE_ADMIN_PASSWORD_FILE'];
  if (text && file) {
    throw configError(
      'PULSEGATE_ADMIN_PASSWORD_FILE',
      'PULSEGATE_ADMIN_PASSWORD is also set; set only one of them',
    );
  }
  if (text) return { password: text, by: 'the variable PULSEGATE_ADMIN_PASSWORD' };
  if (file) {
    const password = await readPasswordFile(file, 'PULSEGATE_ADMIN_PASSWORD_FILE');
    return { password, by: `the file ${file} (PULSEGATE_ADMIN_PASSWORD_FILE)` };
  }
  const folder = env['CREDENTIALS_DIRECTORY'];
  if (!folder) return undefined;
  // The credential is optional: it may be missing, or blank from the SetCredential= fallback of the unit.
  const credential = join(folder, SYSTEMD_CREDENTIAL);
  if (await isMissingOrBlank(credential)) return undefined;
  const password = await readPasswordFile(credential, 'systemd credential');
  return { password, by: 'the systemd credential admin-password (LoadCredential= in the unit file)' };
}

async function readPasswordFile(file: string, where: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw configError(where, `the file ${file} cannot be read (${codeOf(error) ?? 'unknown error'})`, error);
  });
  if (bytes.length > MAX_BYTES)
    throw configError(where, `the file ${file} is larger than ${MAX_BYTES} bytes`);
  const password = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (password.trim() === '') throw configError(where, `the file ${file} is empty`);
  return password;
}

async function isMissingOrBlank(file: string): Promise<boolean> {
  try {
    return (await readFile(file, 'utf8')).trim() === '';
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}
