// The answer of the account API to refusals of new and changed accounts; to all others it answers 'malformed-request'.
import type { AddRefusal } from '../../core/accounts/account-input.js';
import type { PatchRefusal } from '../../core/accounts/accounts.js';
import type { RefusalCode } from '../answer.js';

export const REFUSALS: Partial<Record<AddRefusal | PatchRefusal, RefusalCode>> = {
  'empty-credentials': 'empty-credentials',
  'username-taken': 'username-taken',
  'invalid-expiry': 'malformed-date',
  'not-found': 'account-to-change-not-found',
};
