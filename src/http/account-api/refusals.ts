// The answer of the account API to each refusal of a change.
import type { AddRefusal, UpdateRefusal } from '../../core/accounts/account-input.js';
import type { RefusalCode } from '../answer.js';

export const ADD_REFUSALS: Record<AddRefusal, RefusalCode> = {
  'empty-credentials': 'empty-credentials',
  'invalid-username': 'malformed-request',
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
  'username-taken': 'username-taken',
};

export const UPDATE_REFUSALS: Record<UpdateRefusal, RefusalCode> = {
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
  'not-found': 'account-to-change-not-found',
};
