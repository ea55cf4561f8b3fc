// One description of each field of an account that callers set. Changes, rows, audit records, files and answers are made from it.
// User name, password, limits and contacts are not here: to change one of them is more than to replace a value.
import type { GeoPaths } from '../../addresses/geo.js';
import { EXIT_NAME } from '../../exits/exit.js';
import { isWireDate, WIRE_DATE_RANGE } from '../../time/wire-date.js';
import { type AddressRefusal, type AddressRules, readAddressList } from '../access/address-list.js';
import { isSchedule, storedSchedule } from '../access/schedule.js';
import type { Account } from '../account.js';
import { isByGuard } from '../usage/guard.js';
import { areValidTags, MAX_TAG_CHARS, MAX_TAGS, uniqueTags } from './contacts.js';
import { ADDRESSES, type Cell, DATE, FLAG, isEmpty, type Kind, NUMBER, TAGS, TEXT } from './kinds.js';

type BulkActionType =
  | 'enable'
  | 'tag'
  | 'plan'
  | 'hand-over'
  | 'set-exit'
  | 'set-access'
  | 'set-expiry'
  | 'suspend';
export type Need = 'administrator' | 'egress:write';

interface AccountField<Value> extends Kind<Value> {
  /** Whether a given value can be stored. Where one may be invalid, `reason` is its refusal and `error` what a request is told. */
  isValid?(given: Value): boolean;
  readonly reason?: string;
  /** An error of a field (`http/api/schemas.ts`), with the values of its text. */
  readonly error?: readonly [code: string, values?: Readonly<Record<string, string | number>>];
  /** The form that is stored. */
  toStored?(given: Value): Value;
  /** The audit log shows the field also without a value. */
  readonly isAlwaysAudited?: true;
  /** Of a field of the kind ADDRESSES. */
  readonly addresses?: AddressRules;
  /**
   * Who sets the field besides operators: plans, a bulk action (`BulkAction` of the API), and sellers, of their own accounts, also
   * without what it `needs`.
   */
  readonly setBy: {
    readonly plans: boolean;
    readonly bulk: BulkActionType | null;
    readonly sellers: boolean;
  };
  /** What a caller needs to change the field, besides the right to change accounts. */
  readonly needs?: Need | ((present: { readonly [K in keyof Account]?: unknown }) => Need | null);
  /** Headings of its column in files of Chinese operators. */
  readonly headings?: string;
}

export const ACCOUNT_FIELDS = {
  isEnabled: {
    ...FLAG,
    initial: true,
    isAlwaysAudited: true,
    setBy: { plans: false, bulk: 'enable', sellers: true },
    headings: '启用 是否启用 已启用 启用状态 状态',
  },
  remarks: {
    ...TEXT,
    isValid: (text) => text === null || isValidRemarks(text),
    reason: 'invalid-remarks',
    error: ['not-storable'],
    isAlwaysAudited: true,
    setBy: { plans: false, bulk: null, sellers: true },
    fault: 'remarks',
    headings: '备注 备注信息 说明',
  },
  tags: {
    ...TAGS,
    isValid: (tags) => areValidTags(uniqueTags(tags)),
    reason: 'invalid-tags',
    error: ['tags', { max: MAX_TAGS, maxCharacters: MAX_TAG_CHARS }],
    toStored: uniqueTags,
    setBy: { plans: false, bulk: 'tag', sellers: true },
    headings: '标签 分组 分类',
  },
  plan: {
    ...TEXT,
    setBy: { plans: true, bulk: 'plan', sellers: true },
    fault: null,
    headings: '套餐',
  },
  daysFromFirstLogin: { ...NUMBER, setBy: { plans: true, bulk: 'plan', sellers: true } },
  owner: {
    ...TEXT,
    setBy: { plans: false, bulk: 'hand-over', sellers: false },
    needs: 'administrator',
    fault: null,
  },
  suspendedUntil: {
    ...DATE,
    setBy: { plans: false, bulk: 'suspend', sellers: false },
    // The guard's own suspensions, and those of an unknown reason.
    needs: ({ suspendReason }) =>
      typeof suspendReason !== 'string' || isByGuard(suspendReason) ? 'egress:write' : null,
    fault: null,
  },
  suspendReason: { ...TEXT, setBy: { plans: false, bulk: 'suspend', sellers: false }, fault: null },
  expiresAt: {
    ...DATE,
    isValid: (at) => at === null || isWireDate(at),
    reason: 'invalid-expiry',
    error: ['time', { range: WIRE_DATE_RANGE }],
    isAlwaysAudited: true,
    setBy: { plans: true, bulk: 'set-expiry', sellers: true },
    headings: '到期时间 到期日期 到期日 到期 过期时间 过期日期 有效期 有效期至 失效时间 截止时间 截止日期',
  },
  authorizedAddresses: {
    ...ADDRESSES,
    reason: 'invalid-addresses',
    // Shorter prefixes would authorize a large part of the Internet. An address belongs to one account of the whole server, so only
    // the administrator assigns them.
    addresses: { max: 'maxAuthorizedAddresses', shortestPrefixBits: { 4: 8, 16: 16 }, hasGeo: false },
    setBy: { plans: false, bulk: null, sellers: false },
    headings: '免密地址 授权地址',
  },
  allowedClients: {
    ...ADDRESSES,
    reason: 'invalid-allowed-clients',
    addresses: { max: 'maxAllowedClients', shortestPrefixBits: { 4: 0, 16: 0 }, hasGeo: true },
    setBy: { plans: false, bulk: 'set-access', sellers: true },
    headings: '限定来源 允许来源 绑定地址 绑定ip',
  },
  schedule: {
    ...TEXT,
    isValid: isSchedule,
    reason: 'invalid-schedule',
    error: ['schedule'],
    toStored: storedSchedule,
    setBy: { plans: false, bulk: 'set-access', sellers: true },
    fault: 'schedule',
    headings: '使用时段 时间安排 可用时段',
  },
  exit: {
    ...TEXT,
    isValid: (name) => name === null || EXIT_NAME.test(name),
    reason: 'unknown-exit',
    error: ['exit'],
    // Among those that the seller has been given.
    setBy: { plans: true, bulk: 'set-exit', sellers: true },
    needs: 'egress:write',
    fault: 'exit',
    headings: '出口 出口名称',
  },
} as const satisfies { readonly [K in keyof Account]?: AccountField<Account[K]> };

export type FieldName = keyof typeof ACCOUNT_FIELDS;
type FieldsWith<Property extends string> = {
  [K in FieldName]: (typeof ACCOUNT_FIELDS)[K] extends Readonly<Record<Property, unknown>> ? K : never;
}[FieldName];
/** Why a value of a field cannot be stored. */
export type FieldReason = (typeof ACCOUNT_FIELDS)[FieldsWith<'reason'>]['reason'];
export type AccountFields = Pick<Account, FieldName>;
/** An undefined field is not given. */
export type GivenFields = { readonly [K in FieldName]?: Account[K] | undefined };

export const FIELDS = Object.entries(ACCOUNT_FIELDS) as readonly [FieldName, AccountField<unknown>][];
type FieldsOfBulk<Action extends BulkActionType> = {
  [K in FieldName]: (typeof ACCOUNT_FIELDS)[K]['setBy']['bulk'] extends Action ? K : never;
}[FieldName];
/** The fields that say from where and when an account may log in. */
export const ACCESS_FIELDS = FIELDS.flatMap(([name, { setBy }]) =>
  setBy.bulk === 'set-access' ? [name as FieldsOfBulk<'set-access'>] : [],
);
/** The fields that a plan may set, beside the limits. */
export const PLAN_FIELDS = FIELDS.flatMap(([name, { setBy }]) => (setBy.plans ? [name] : []));

/** Returns an object with what `of` returns for each field. */
function eachField<T>(
  of: (name: FieldName, field: AccountField<unknown>) => T | undefined,
): Record<string, T> {
  const all: Record<string, T> = {};
  for (const [name, field] of FIELDS) {
    const value = of(name, field);
    if (value !== undefined) all[name] = value;
  }
  return all;
}

export const INITIAL_FIELDS = eachField((_, { initial }) => initial) as unknown as AccountFields;

export function fieldsOf(account: AccountFields): AccountFields {
  return eachField((name) => account[name]) as unknown as AccountFields;
}

export function storedFields(given: GivenFields): Partial<AccountFields> {
  return eachField((name, { toStored }) =>
    given[name] === undefined || !toStored ? given[name] : toStored(given[name]),
  );
}

/** Returns why one of the given fields cannot be stored; null: all can. */
export function fieldReason(given: GivenFields): FieldReason | null {
  const wrong = FIELDS.find(
    ([name, field]) => given[name] !== undefined && field.isValid?.(given[name]) === false,
  );
  return wrong ? (wrong[1].reason as FieldReason) : null;
}

export function auditedFields(account: AccountFields): Record<string, Cell> {
  return eachField((name, field) => {
    const cell = field.toCell(account[name]);
    return field.isAlwaysAudited || !isEmpty(cell) ? cell : undefined;
  });
}

/** Whether every database can store `remarks`: well-formed Unicode without U+0000. */
export function isValidRemarks(remarks: string): boolean {
  return remarks.isWellFormed() && !remarks.includes('\0');
}

type ListName = FieldsWith<'addresses'>;
type ListRules = (typeof ACCOUNT_FIELDS)[ListName];
/** Most entries of one account, and the files that know countries and networks. */
export type AddressSettings = Readonly<Record<ListRules['addresses']['max'], number>> & {
  readonly geoFiles: GeoPaths;
};

export interface RefusedAddress {
  readonly ok: false;
  readonly reason: ListRules['reason'] | 'address-taken';
  readonly list: ListName;
  readonly address: AddressRefusal;
}

const ADDRESS_FIELDS = FIELDS.flatMap(([name, { addresses }]) => (addresses ? [name as ListName] : []));

/** The lists that sellers may not fill have no entries. */
export function addressSettingsOfSellers({ geoFiles, ...max }: AddressSettings): AddressSettings {
  const own = ADDRESS_FIELDS.map((list) => {
    const { addresses, setBy } = ACCOUNT_FIELDS[list];
    return [addresses.max, setBy.sellers ? max[addresses.max] : 0];
  });
  return { geoFiles, ...(Object.fromEntries(own) as typeof max) };
}

/** Returns a change with its lists in the form that is stored, or why one is refused; an undefined list stays undefined. */
export function readAddressLists<Change extends GivenFields>(
  change: Change,
  settings: AddressSettings,
): { readonly ok: true; readonly change: Change } | RefusedAddress {
  const read: Record<string, readonly string[]> = {};
  for (const list of ADDRESS_FIELDS) {
    const { addresses: rules, reason } = ACCOUNT_FIELDS[list];
    const entries = change[list];
    if (entries === undefined) continue;
    const found = readAddressList(entries, rules, settings[rules.max], settings.geoFiles);
    if (!found.ok) return { ok: false, reason, list, address: found.refusal };
    read[list] = found.addresses;
  }
  return { ok: true, change: { ...change, ...read } };
}
