// An account as a row of a file: the fields in the order of output.

import { textOfAddresses } from '../core/accounts/access/address-list.js';
import type { AccountView } from '../core/accounts/account-views.js';
import { textOfTags } from '../core/accounts/fields/tags.js';
import type { CountedTraffic } from '../core/accounts/usage/limits.js';
import { formatWireDate } from '../core/wire-date.js';

/** An account to write to a file. */
export interface FileView {
  readonly view: AccountView;
  readonly usage: CountedTraffic;
}

/** The fields of a file, in the order of output. An import ignores lastLoginAt, dataCount and latestGameId. */
export const FIELDS = [
  'username',
  'passwordHash',
  'isEnabled',
  'remarks',
  'createdAt',
  'expiresAt',
  'id',
  'lastLoginAt',
  'dataCount',
  'latestGameId',
  'maxSessions',
  'maxClientAddresses',
  'bytesPerSecondUp',
  'bytesPerSecondDown',
  'quotaBytes',
  'quotaPeriod',
  'egressClass',
  'periodBytes',
  'totalBytesUp',
  'totalBytesDown',
  'tags',
  'plan',
  'daysFromFirstLogin',
  'authorizedAddresses',
  'allowedClients',
  'schedule',
  'email',
  'telegram',
  'language',
] as const;

export type Row = Readonly<Record<(typeof FIELDS)[number], string | number | boolean | null>>;

/** An account as a row of a file; dates in the format of the account API. */
export function toRow({ view, usage }: FileView): Row {
  const { account, dataCount, latestGameId } = view;
  const date = (ms: number | null) => (ms === null ? null : formatWireDate(ms));
  return {
    username: account.username,
    passwordHash: account.passwordHash,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    createdAt: date(account.createdAt),
    expiresAt: date(account.expiresAt),
    id: account.id,
    lastLoginAt: date(account.lastLoginAt),
    dataCount,
    latestGameId,
    ...account.limits,
    periodBytes: usage.periodBytes,
    totalBytesUp: usage.totalBytesUp,
    totalBytesDown: usage.totalBytesDown,
    tags: textOfTags(account.tags),
    plan: account.plan,
    daysFromFirstLogin: account.daysFromFirstLogin,
    authorizedAddresses: textOfAddresses(account.authorizedAddresses),
    allowedClients: textOfAddresses(account.allowedClients),
    schedule: account.schedule,
    ...account.contacts,
  };
}
