// A line of a file as its reader found it, why it cannot be imported, and the settings of CCProxy that an import cannot keep.
import { ADDRESS_TEXTS } from '../core/accounts/access/address-list.js';
import { SCHEDULE_RULE } from '../core/accounts/access/schedule.js';
import { newAccount } from '../core/accounts/account-input.js';
import type { AccountView } from '../core/accounts/account-query.js';
import { FIELDS } from '../core/accounts/fields/account-fields.js';
import type { Cell } from '../core/accounts/fields/kinds.js';
import type { CountedTraffic } from '../core/accounts/usage/limits.js';
import { fillText } from '../core/text.js';
import { formatWireDate } from '../core/time/wire-date.js';

export const REASON_TEXTS = {
  'no-username': 'the user name is missing',
  username: 'the user name must be 1 to 255 bytes without control characters',
  password: 'the password must be a text of 1 to 255 bytes',
  'password-hash': 'passwordHash is neither sha256$salt$digest nor 64 hexadecimal digits',
  'link-hash': 'linkHash is not sha256$salt$digest',
  'two-passwords': 'give either password or passwordHash, not both',
  'no-password': 'a new account needs a password or a passwordHash',
  'is-enabled': 'isEnabled is neither true nor false',
  remarks: 'the remarks cannot be stored',
  tags: 'the tags must be at most 16 words of 1 to 32 characters, separated by commas',
  contacts: 'email must be one address, telegram a chat id or @name, language zh or en',
  plan: 'plan must be a name of 1 to 64 characters, daysFromFirstLogin a whole number from 1 to 36500',
  ...ADDRESS_TEXTS,
  addresses: '{field} must be text, or a list of texts',
  schedule: `schedule must be ${SCHEDULE_RULE}`,
  date: 'a date must be of the form 2026-12-31T23:59:59 (UTC), 2026-12-31 23:59 or 2026/12/31, in the years 0001 to 9999',
  id: 'id is not a GUID',
  usage: 'the usage must be a whole number of bytes, 0 or more',
  limit: '{field} must be a whole number of 1 or more',
  'guard-limit': '{field} must be a whole number from 0 (any number) to 10000000',
  choice: '{field} is none of {allowed}',
  text: '{field} is not a text',
  'no-egress-class': 'the configuration has no such egress class',
  'no-exit': 'there is no such exit, or the seller of the account has not been given it',
  exit: 'exit must be 1 to 64 letters, digits, dots, dashes and underscores',
  'egress-scope':
    'the token lacks the scope egress:write for its egress class, its exit or its limits per minute',
  exists: 'the account already exists',
  twice: 'the file contains this user name twice',
  'taken-meanwhile': 'another account took the user name during the import',
  'removed-meanwhile': 'the account was removed during the import',
  'not-added': 'not added: the database could not be written',
  'not-replaced': 'not replaced: the database could not be written',
  'not-completed': 'limits and usage were not imported: the database could not be written',
  'over-budget-accounts':
    'not imported: with the lines written together with it, it needs more than the {left} accounts left in the budget',
  'over-budget-days':
    'not imported: with the lines written together with it, it needs more than the {left} days left in the budget',
  'over-budget-bytes':
    'not imported: with the lines written together with it, it needs more than the {left} bytes left in the budget',
  'not-csv': 'invalid CSV; nothing after this line was read',
  'no-heading': 'the header row has no column username; it has {found}; nothing was read',
  encoding: 'invalid {encoding} text; nothing after this line was read',
  'too-large': 'the file is larger than 16 MiB; nothing was read',
  'not-json': 'invalid JSON; nothing after this line was read',
  'not-json-array': 'not a JSON array of objects; nothing after this line was read',
  'json-end': 'the JSON array is not closed',
  'json-length': 'an account is longer than 64 KiB; nothing after this line was read',
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;

export interface Reason {
  readonly code: ReasonCode;
  /** The values for the placeholders of the text. */
  readonly values: Readonly<Record<string, string>>;
}

export function because(code: ReasonCode, values: Reason['values'] = {}): Reason {
  return { code, values };
}

export function reasonText({ code, values }: Reason): string {
  return fillText(REASON_TEXTS[code], values);
}

/** The file is not of its format: nothing after this is read. */
export class FormatError extends Error {
  constructor(
    readonly fault: Reason,
    options?: ErrorOptions,
  ) {
    super(reasonText(fault), options);
  }
}

export interface FileView {
  readonly view: AccountView;
  readonly usage: CountedTraffic;
}

/** Written beside the other fields of the table, or in no file: none names the owner, or says that the account is suspended. */
const APART = ['isEnabled', 'remarks', 'expiresAt', 'owner', 'suspendedUntil', 'suspendReason'];
const LATER = FIELDS.filter(([name]) => !APART.includes(name));

/** The fields that a file without hashes leaves out. */
export const HASHES: readonly string[] = ['passwordHash', 'linkHash'];

type Row = Readonly<Record<string, Cell>> & {
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

/** The fields of a file, in the order of output. An import ignores lastLoginAt, dataCount and latestGameId. */
export const FILE_FIELDS: readonly string[] = Object.keys(
  toRow({
    view: { account: newAccount({ username: '' }, '', 0), dataCount: 0, latestGameId: null },
    usage: { periodBytes: 0, totalBytesUp: 0, totalBytesDown: 0 },
  }),
);

/** Reads one key of the account's section; undefined: it is missing or empty. */
type ReadKey = (name: string) => string | undefined;

const isSet = (value: string | undefined): boolean => value !== undefined && value.trim() === '1';
const isChosen = (value: string | undefined): boolean => value !== undefined && Number(value) >= 0;

/** Values of `ServiceMask` that allow every service that CCProxy has. */
const ALL_SERVICES = new Set(['254', '255']);
const SERVICES = ['WWW', 'Mail', 'FTP', 'Telnet', 'Dial', 'Others'];

const LOSSES = {
  // CCProxy lets in nobody who must come from an address that is not set. Here the account is bound to none.
  'client-address': (of: ReadKey) =>
    isSet(of('EnableIPAddress')) && of('IPAddressLow') === undefined && of('IPAddressHigh') === undefined,
  'mac-address': (of: ReadKey) => isSet(of('EnableMACAddress')) && of('MACAddress') !== undefined,
  'web-filter': (of: ReadKey) => isChosen(of('WebFilter')),
  'time-schedule': (of: ReadKey) => isChosen(of('TimeSchedule')),
  group: (of: ReadKey) => isSet(of('BelongsGroup')),
  'left-time': (of: ReadKey) => isSet(of('EnableLeftTime')),
  'bandwidth-quota': (of: ReadKey) => isSet(of('EnableBandwidthQuota')),
  services: (of: ReadKey) =>
    SERVICES.some((service) => of(`Enable${service}`) === '0') ||
    !ALL_SERVICES.has(of('ServiceMask')?.trim() ?? '255'),
} satisfies Record<string, (of: ReadKey) => boolean>;

/** What an operator reads; the console has its own texts. */
export const LOST_TEXTS = {
  'client-address':
    'bound to client addresses, but the file names none: the account may log in from everywhere',
  'mac-address': 'MAC address',
  'web-filter': 'web filter',
  'time-schedule': 'time schedule (the file has only its number)',
  group: 'settings of its group',
  'left-time': 'remaining time',
  'bandwidth-quota': 'bandwidth quota (CCProxy counts it over a number of days)',
  'outgoing-address': 'outgoing address (this machine does not have it)',
  'outgoing-exit': 'outgoing address (no exit for it that you may use for the account, or add)',
  'outgoing-exits': 'outgoing address (there are 256 exits, and there can be no more)',
  services: 'services other than SOCKS switched off',
  'group-account': 'group (not an account)',
} as const satisfies Readonly<Record<keyof typeof LOSSES | 'group-account' | `outgoing-${string}`, string>>;

export type LostSetting = keyof typeof LOST_TEXTS;
export const LOST_SETTINGS = Object.keys(LOST_TEXTS) as [LostSetting, ...LostSetting[]];

export const lostSettings = (of: ReadKey): LostSetting[] =>
  (Object.keys(LOSSES) as (keyof typeof LOSSES)[]).filter((name) => LOSSES[name](of));
