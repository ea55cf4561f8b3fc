// Schemas of accounts: the account, its filter, and its changes; and how an account is shown.
import { z } from 'zod';
import type { Schedules } from '../../../core/accounts/access/schedule.js';
import { isExpired, isSuspended, type Account as StoredAccount } from '../../../core/accounts/account.js';
import { type AccountView, NO_OWNER } from '../../../core/accounts/account-query.js';
import { fieldsOf } from '../../../core/accounts/fields/account-fields.js';
import { CLIENT_FORMATS } from '../../../core/accounts/player/client-formats.js';
import type { LimitUsage } from '../../../core/accounts/usage/limits.js';
import { iso, isoOrNull, withTimes } from '../../../core/time/clock.js';
import { etagOf } from '../../api/route.js';
import { Bytes, Count, component, Flag, Guid, Time, TimeIn } from '../../api/schemas.js';
import type { Services } from '../../services.js';
import { pageSortedBy, type SortKeys, sortBy, sortedCursors } from '../cursors.js';
import { AccountLimits, AccountUsage, Contacts, FieldsOfAnswers } from './field-schemas.js';

export const Account = component('Account', {
  id: Guid,
  username: z.string(),
  isEnabled: z.boolean(),
  remarks: z.string().nullable(),
  /** Each once, sorted. */
  tags: z.array(z.string()),
  createdAt: Time,
  lastLoginAt: Time.nullable(),
  expiresAt: Time.nullable(),
  isExpired: z.boolean(),
  /** Logins are refused until then (in the year 9000 or later: until it is lifted), because of `suspendReason`; null: they are not. */
  suspendedUntil: Time.nullable(),
  /** What the guard refused last, as in the login history. */
  suspendReason: z.string().nullable(),
  /** The account's expiry is set this many days after its first login; null: the account does not wait for a first login. */
  daysFromFirstLogin: z.int().min(1).nullable(),
  /** The plan that was applied last; null: none. */
  plan: z.string().nullable(),
  /** Heartbeat entries now in the pool. */
  dataCount: Count,
  latestGameId: z.string().nullable(),
  /** Since midnight in the time zone `timeZone`. */
  todayBytesUp: Bytes,
  todayBytesDown: Bytes,
  ...FieldsOfAnswers.shape,
  /** The schedule does not allow the present time. */
  isOutsideSchedule: z.boolean(),
  /** When the schedule opens or closes next; null: never. */
  scheduleChangesAt: Time.nullable(),
  /** The seller that owns the account; null: the administrator. */
  owner: z.object({ id: Guid, name: z.string() }).nullable(),
  contacts: Contacts,
  limits: AccountLimits,
  usage: AccountUsage,
  /** The value for `If-Match` of a change, equal to the `ETag` header of the single account. */
  etag: z.string(),
});

const OwnerFilter = z.union([Guid, z.literal(NO_OWNER)]);

/**
 * Filters are joined by "and". A filter that is left out has no effect.
 * @param flag of queries or of bodies, as `days`
 */
const filters = <F extends z.ZodType<boolean>, D extends z.ZodType<number>>(flag: F, days: D) =>
  z.object({
    /**
     * Words separated by spaces, case-insensitive. Each is in user name, remarks, tags, latest GameID, e-mail address or Telegram
     * chat. A whole GUID finds its account.
     */
    search: z.string().max(255).optional(),
    username: z.string().max(255).optional(),
    online: flag.optional(),
    enabled: flag.optional(),
    expired: flag.optional(),
    suspended: flag.optional(),
    /** Not yet expired, and expires within this number of days. */
    expiringWithinDays: days.optional(),
    /** Expires at this moment or later. Accounts that never expire are left out. */
    expiresFrom: TimeIn.optional(),
    /** Expires before this moment. */
    expiresBefore: TimeIn.optional(),
    neverUsed: flag.optional(),
    overQuota: flag.optional(),
    /** Exact texts of tags, separated by commas: accounts that have all of them. */
    tag: z.string().min(1).max(1_000).optional(),
    /** The exact latest GameID. */
    game: z.string().max(255).optional(),
    /** The account that this client address authenticates as without credentials. */
    authorizedAddress: z.string().max(64).optional(),
    /** The exact name of the plan that was applied last. */
    plan: z.string().max(64).optional(),
    /** The exact name of the exit that the account itself has. */
    exit: z.string().max(64).optional(),
    /** Id of the seller that owns the account; `none`: the administrator. */
    owner: OwnerFilter.optional(),
  });

export const AccountFilter = filters(Flag, z.coerce.number().int().min(1).max(3_650)).meta({
  id: 'AccountFilter',
});
/** The filters of the list's query, as JSON values. */
export const AccountFilterBody = filters(z.boolean(), z.int().min(1).max(3_650))
  .omit({ authorizedAddress: true })
  .meta({ id: 'AccountFilterBody' });

const ACCOUNT_SORTS = {
  username: ({ account }) => account.username,
  createdAt: ({ account }) => account.createdAt,
  lastLoginAt: ({ account }) => account.lastLoginAt,
  expiresAt: ({ account }) => account.expiresAt,
  dataCount: ({ dataCount }) => dataCount,
  latestGameId: ({ latestGameId }) => latestGameId,
  sessions: ({ account }, { sessions }) => sessions.countOf(account.id),
  todayBytes: ({ account }, { activity }) => sumOf(activity.todayOf(account.id)),
  periodBytes: ({ account }, { usage }) => usage.lastView(account).periodBytes,
} as const satisfies SortKeys<AccountView, Services>;
const sumOf = ({ up, down }: { readonly up: number; readonly down: number }): number => up + down;

export const pageOfAccounts = (
  accounts: readonly AccountView[],
  page: Pick<Parameters<typeof pageSortedBy>[1], 'sort' | 'limit' | 'cursor'>,
  deps: Services,
) => pageSortedBy(accounts, page, ACCOUNT_SORTS, deps, ({ account }) => account.id);

export const AccountSort = sortBy(ACCOUNT_SORTS).meta({
  id: 'AccountSort',
  description: 'A leading minus means descending. null comes last in both directions.',
});

export const AccountQuery = AccountFilter.extend({
  ...sortedCursors.PageQuery.shape,
  sort: AccountSort.default('username'),
});

/** Shown once: at creation and at a password reset. */
export const Credentials = component('Credentials', {
  id: Guid,
  username: z.string(),
  password: z.string(),
  /** `socks5h://user:password@host:port`, percent-encoded. */
  link: z.string(),
  /** `host:port:user:password`; null when a colon in the user name would make it ambiguous. */
  plain: z.string().nullable(),
});
export type Credentials = z.infer<typeof Credentials>;

/** The credentials of one account, with the formats that players' programs read. */
export const CredentialsInFormats = Credentials.extend({
  formats: z.array(
    z.object({
      format: z.enum(CLIENT_FORMATS),
      /** null: the format cannot represent this user name or password. */
      text: z.string().nullable(),
      /** For a format that is opened as a file; null for a format that is pasted. */
      fileName: z.string().nullable(),
    }),
  ),
}).meta({ id: 'CredentialsInFormats' });

/** An account that a bulk action skipped. */
export const SkippedAccount = component('SkippedAccount', {
  /** null when no account has the name yet. */
  id: Guid.nullable(),
  username: z.string(),
  /** `failed`: the account could not be stored, and nothing was written for it. */
  reason: z.enum([
    'username-taken',
    'username-twice',
    'bad-username',
    'bad-password',
    'bad-contacts',
    'not-found',
    'already-so',
    'no-expiry',
    'too-many-tags',
    'no-exit',
    'no-plan',
    'suspended-by-guard',
    'failed',
  ]),
});
export type SkippedAccount = z.infer<typeof SkippedAccount>;

export function presentAccount(
  view: AccountView,
  usage: LimitUsage,
  today: { readonly up: number; readonly down: number },
  now: number,
  owner: { readonly id: string; readonly name: string } | null,
  schedules: Schedules,
): Record<string, unknown> {
  const { account, dataCount, latestGameId } = view;
  const fields = fieldsOf(account);
  const suspended = isSuspended(account, now);
  return {
    id: account.id,
    username: account.username,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    ...fields,
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: isExpired(account, now),
    suspendedUntil: suspended ? isoOrNull(account.suspendedUntil) : null,
    suspendReason: suspended ? account.suspendReason : null,
    dataCount,
    latestGameId,
    contacts: account.contacts,
    todayBytesUp: today.up,
    todayBytesDown: today.down,
    ...presentSchedule(account, schedules, now),
    owner,
    limits: account.limits,
    usage: presentUsage(usage),
    // Computed when it is read: the tables of commands show no tags.
    get etag() {
      return accountEtag(account, fields);
    },
  };
}

/** The schedule and what it says of the present time. */
export function presentSchedule(
  { schedule }: Pick<StoredAccount, 'schedule'>,
  schedules: Schedules,
  now: number,
) {
  return {
    schedule,
    isOutsideSchedule: !schedules.isOpen(schedule, now),
    scheduleChangesAt: isoOrNull(schedules.nextChange(schedule, now)),
  };
}

export const presentUsage = (usage: LimitUsage) => withTimes(usage, 'periodStartedAt', 'periodEndsAt');

/** Changes with the settings of an operator, but not with logins and traffic. */
export const accountEtag = (account: StoredAccount, fields = fieldsOf(account)): string =>
  etagOf([account.username, fields, account.limits, account.contacts]);
