// Why a change of an account is refused, as the command line says it.

import { ADDRESS_TEXTS, type AddressRefusal } from '../core/accounts/access/address-list.js';
import { SCHEDULE_RULE } from '../core/accounts/access/schedule.js';
import type { AddRefusal, UpdateRefusal } from '../core/accounts/account-input.js';
import { MAX_TAGS, TAG_RULE } from '../core/accounts/fields/tags.js';
import { fillText } from '../core/text.js';
import { CommandError } from './command.js';

export function refused({
  reason,
  address,
}: {
  readonly reason: keyof typeof REFUSALS;
  readonly address?: AddressRefusal;
}): CommandError {
  if (address === undefined) return new CommandError(REFUSALS[reason]);
  const text = fillText(ADDRESS_TEXTS[address.code], address.values);
  return new CommandError(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

const REFUSALS: Readonly<Record<AddRefusal | UpdateRefusal | 'changed-meanwhile', string>> = {
  'empty-credentials': 'User name and password must not be empty.',
  'invalid-username': 'The user name must be 1 to 255 bytes of UTF-8 without control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes of UTF-8 and not only white space.',
  'invalid-remarks': 'The remarks contain characters that cannot be stored.',
  'invalid-tags': `At most ${MAX_TAGS} tags, and ${TAG_RULE}.`,
  'invalid-expiry': 'The expiry must be in the years 0001 to 9999 (UTC).',
  'invalid-schedule': `The schedule must be ${SCHEDULE_RULE}.`,
  'invalid-email': 'The e-mail address must be one address such as name@example.com.',
  'invalid-telegram': 'The Telegram chat must be a number, or @ and the name of a channel.',
  'unknown-egress-class': 'The configuration has no such egress class.',
  'invalid-addresses': 'The authorized addresses cannot be stored.',
  'invalid-allowed-clients': 'The allowed client addresses cannot be stored.',
  'address-taken': 'Another account has one of these authorized addresses.',
  'username-taken': 'An account with this user name already exists.',
  'not-found': 'The account no longer exists.',
  'changed-meanwhile': 'Another change to the account came first. Try again.',
};
