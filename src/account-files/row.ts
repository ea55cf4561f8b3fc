// An account as a row of a file: the fields in the order of output.
import type { AccountView } from '../core/accounts/account-views.js';
import { FIELDS } from '../core/accounts/fields/account-fields.js';
import { NO_CONTACTS } from '../core/accounts/fields/contacts.js';
import type { Cell } from '../core/accounts/fields/kinds.js';
import { type CountedTraffic, NO_LIMITS } from '../core/accounts/usage/limits.js';
import { formatWireDate } from '../core/wire-date.js';

/** An account to write to a file. */
export interface FileView {
  readonly view: AccountView;
  readonly usage: CountedTraffic;
}

const FIRST = [
  'username',
  'passwordHash',
  'linkHash',
  'isEnabled',
  'remarks',
  'createdAt',
  'expiresAt',
  'id',
];
/** The fields after the usage. No file names the owner, or says that the account is suspended. */
const LATER = FIELDS.filter(
  ([name]) => !FIRST.includes(name) && !['owner', 'suspendedUntil', 'suspendReason'].includes(name),
);

/** The fields of a file, in the order of output. An import ignores lastLoginAt, dataCount and latestGameId. */
export const FILE_FIELDS: readonly string[] = [
  ...FIRST,
  ...['lastLoginAt', 'dataCount', 'latestGameId'],
  ...Object.keys(NO_LIMITS),
  ...['periodBytes', 'totalBytesUp', 'totalBytesDown'],
  ...LATER.map(([name]) => name),
  ...Object.keys(NO_CONTACTS),
];

/** The fields that a file without hashes leaves out. */
export const HASHES: readonly string[] = ['passwordHash', 'linkHash'];

export type Row = Readonly<Record<string, Cell>> & {
  readonly passwordHash: string;
  readonly linkHash: string | null;
};

/** An account as a row of a file; dates in the format of the account API. */
export function toRow({ view, usage }: FileView): Row {
  const { account, dataCount, latestGameId } = view;
  const date = (ms: number | null) => (ms === null ? null : formatWireDate(ms));
  return {
    username: account.username,
    passwordHash: account.passwordHash,
    linkHash: account.link?.hash ?? null,
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
    ...Object.fromEntries(LATER.map(([name, { toCell }]) => [name, toCell(account[name])])),
    ...account.contacts,
  };
}
