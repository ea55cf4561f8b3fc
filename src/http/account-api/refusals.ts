// The answer of the account API to each refusal of a change.
import type { AddRefusal, UpdateRefusal } from '../../core/accounts/account-input.js';
import type { RefusalCode } from '../answer.js';

/** Refusals of new accounts and of changed ones. */
const BOTH: Record<AddRefusal & UpdateRefusal, RefusalCode> = {
  'invalid-password': 'malformed-request',
  'invalid-remarks': 'malformed-request',
  'invalid-tags': 'malformed-request',
  'invalid-email': 'malformed-request',
  'invalid-telegram': 'malformed-request',
  'invalid-expiry': 'malformed-date',
  'invalid-schedule': 'malformed-request',
  'unknown-egress-class': 'malformed-request',
  'invalid-addresses': 'malformed-request',
  'invalid-allowed-clients': 'malformed-request',
  'address-taken': 'malformed-request',
};

export const ADD_REFUSALS: Record<AddRefusal, RefusalCode> = {
  ...BOTH,
  'empty-credentials': 'empty-credentials',
  'invalid-username': 'malformed-request',
  'username-taken': 'username-taken',
};

export const UPDATE_REFUSALS: Record<UpdateRefusal, RefusalCode> = {
  ...BOTH,
  'not-found': 'account-to-change-not-found',
};
