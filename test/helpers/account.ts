// An account for tests. A field that the test does not set has its default.
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/core/accounts/account.js';
import { INITIAL_FIELDS } from '../../src/core/accounts/fields/account-fields.js';
import { NO_CONTACTS } from '../../src/core/accounts/fields/contacts.js';
import { NO_LIMITS } from '../../src/core/accounts/usage/limits.js';

export function account(fields: Partial<Account> = {}): Account {
  const id = fields.id ?? randomUUID();
  return {
    id,
    username: `player-${id.slice(0, 8)}`,
    passwordHash: 'a'.repeat(64),
    passwordVersion: 0,
    link: null,
    ...INITIAL_FIELDS,
    createdAt: 1_700_000_000_000,
    lastLoginAt: null,
    limits: NO_LIMITS,
    quotaReset: null,
    contacts: NO_CONTACTS,
    ...fields,
  };
}
