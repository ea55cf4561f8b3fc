// Passwords of people whose checks take no time: the number of rounds stands in each stored hash.
import { pbkdf2Sync } from 'node:crypto';
import { type AdminCredentials, createAdminCredentials } from '../../src/core/auth/admin-credentials.js';
import { createOperators } from '../../src/core/auth/operators.js';
import { createPeoplePasswords, type PeoplePasswords } from '../../src/core/auth/people-passwords.js';
import { openPrincipals } from '../../src/core/auth/principals.js';
import { NO_TOTP_KEYS } from '../../src/core/auth/totp.js';
import type { SettingStore } from '../../src/core/settings/setting.js';

export const quickPasswords = (): PeoplePasswords =>
  createPeoplePasswords({ maxAtOnce: 1_000, maxWaiting: 1_000, rounds: 1 });

/** The setting `admin.credentials` of an administrator whose password hash has one round. */
export function storedAdmin({ username, password }: { username: string; password: string }): string {
  const salt = Buffer.alloc(16, 7);
  const digest = pbkdf2Sync(password, salt, 1, 32, 'sha256').toString('hex');
  return JSON.stringify({ username, passwordHash: `pbkdf2-sha256$1$${salt.toString('hex')}$${digest}` });
}

export interface OpenedCredentials extends AdminCredentials {
  /** Whether the administrator can sign in with these. */
  verify(username: string, password: string): Promise<boolean>;
}

/** The administrator's credentials, where there are no operators. */
export function openCredentials(options: {
  settings: SettingStore;
  passwords?: PeoplePasswords;
  newPassword?: () => string;
}): OpenedCredentials {
  const { settings, passwords = quickPasswords() } = options;
  const credentials = createAdminCredentials({ ...options, passwords });
  const absent = async () => null;
  const operators = createOperators({
    store: { all: async () => [], add: async () => {}, update: absent, remove: async () => false },
    passwords,
    isReserved: () => false,
    newId: () => '',
    now: () => 0,
  });
  const principals = openPrincipals({
    ...{ credentials, operators, passwords },
    settings: { ...settings, raise: async () => false },
    open: async (setting) => setting,
    now: () => 0,
    totpKeys: NO_TOTP_KEYS,
    onUnreadable() {},
    onError(error) {
      throw error;
    },
  });
  return {
    ...credentials,
    verify: async (username, password) => (await (await principals).verify(username, password)) !== null,
  };
}
