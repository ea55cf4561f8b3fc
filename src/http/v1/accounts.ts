// /api/v1: accounts found, created, edited and removed, one at a time.
import type { AccountLimitsService } from '../../core/accounts/account-limits.js';
import { type AccountFacts, accountMatcher } from '../../core/accounts/account-query.js';
import type { Accounts, AccountView, AddRefusal } from '../../core/accounts/accounts.js';
import { type AccountLimits, NO_LIMITS } from '../../core/accounts/limits.js';
import type { LiveActivity } from '../../core/accounts/live-activity.js';
import { verifyPassword } from '../../core/accounts/password.js';
import type { SessionRegistry } from '../../core/sessions/session.js';
import { pageOfSorted, type SortValue } from '../../core/sorted-page.js';
import { actorOf, type Caller } from '../caller.js';
import { accountEtag, presentAccount } from './account-view.js';
import { badCursor } from './audit.js';
import type { accountRoutes } from './contract/accounts.js';
import { TIME_RANGE } from './contract/common.js';
import { credentialsInFormats, randomPassword } from './credentials.js';
import { matches } from './etag.js';
import type { PublicAddressUses } from './public-address.js';
import { type Answered, type Handlers, type ProblemAnswer, refuseCaller } from './serve.js';
import { fromIsoOrNull } from './times.js';

export interface AccountUses extends Pick<PublicAddressUses, 'publicAddress' | 'socks'> {
  readonly accounts: Accounts;
  readonly limits: AccountLimitsService;
  readonly sessions: SessionRegistry;
  readonly activity: LiveActivity;
  readonly now: () => number;
}

type AccountRoute = (typeof accountRoutes)[number];

export function accountFacts({ limits, sessions }: Pick<AccountUses, 'limits' | 'sessions'>): AccountFacts {
  return {
    isOnline: (id) => sessions.countOf(id) > 0,
    isOverQuota(id) {
      const { limits: set, usage } = limits.glance(id);
      return set.quotaBytes !== null && usage.periodBytes >= set.quotaBytes;
    },
  };
}

/** What each sort key of the list compares. */
function sortValues({
  sessions,
  activity,
  limits,
}: AccountUses): Readonly<Record<string, (view: AccountView) => SortValue>> {
  return {
    username: ({ account }) => account.username,
    createdAt: ({ account }) => account.createdAt,
    lastLoginAt: ({ account }) => account.lastLoginAt,
    expiresAt: ({ account }) => account.expiresAt,
    dataCount: ({ dataCount }) => dataCount,
    latestGameId: ({ latestGameId }) => latestGameId,
    sessions: ({ account }) => sessions.countOf(account.id),
    todayBytes: ({ account }) => activity.todayOf(account.id).up + activity.todayOf(account.id).down,
    periodBytes: ({ account }) => limits.glance(account.id).usage.periodBytes,
  };
}

/** Sorts accounts as the list does. */
export function accountOrder(
  uses: AccountUses,
): (views: readonly AccountView[], sort: string) => readonly AccountView[] {
  const sortBy = sortValues(uses);
  return (views, sort) => {
    const descending = sort.startsWith('-');
    const page = pageOfSorted(views, {
      limit: views.length,
      cursor: undefined,
      descending,
      valueOf: sortBy[descending ? sort.slice(1) : sort] ?? (() => null),
      idOf: ({ account }) => account.id,
    });
    return page?.items ?? [];
  };
}

export function accountHandlers(uses: AccountUses): Handlers<AccountRoute> {
  const { accounts, limits, sessions, activity, now } = uses;
  const facts = accountFacts(uses);
  const sortBy = sortValues(uses);

  const show = (view: AccountView): Record<string, unknown> =>
    presentAccount(view, limits.glance(view.account.id), activity.todayOf(view.account.id), now());

  function shown(id: string, status = 200, more: object = {}): Answered | ProblemAnswer {
    const view = accounts.get(id);
    if (!view) return NO_ACCOUNT;
    const etag = accountEtag(view.account, limits.glance(id).limits);
    const body = status === 201 ? { account: show(view), ...more } : show(view);
    const headers = status === 201 ? { ETag: etag, Location: `/api/v1/accounts/${id}` } : { ETag: etag };
    return { status, body, headers };
  }

  const isCurrent = (id: string, ifMatch: string | null): boolean => {
    const view = accounts.get(id);
    return !view || matches(ifMatch, accountEtag(view.account, limits.glance(id).limits));
  };

  return {
    async listAccounts({ query: { limit, cursor, sort, ...filter } }) {
      const all = accounts.list();
      const descending = sort.startsWith('-');
      const page = pageOfSorted(all.filter(accountMatcher(filter, facts, now())), {
        limit,
        cursor,
        descending,
        valueOf: sortBy[descending ? sort.slice(1) : sort] ?? (() => null),
        idOf: ({ account }) => account.id,
      });
      if (!page) return badCursor();
      const { items, ...rest } = page;
      return { status: 200, body: { items: items.map(show), ...rest, total: all.length } };
    },

    async createAccount({ body, caller, ctx }) {
      const wrong = await refuseLimits(uses, body.limits, caller, null);
      if (wrong) return wrong;
      const password = body.password ?? randomPassword();
      const { username, isEnabled, remarks } = body;
      const expiresAt = fromIsoOrNull(body.expiresAt);
      const by = actorOf(caller);
      const set = body.limits && { ...NO_LIMITS, ...given(body.limits) };
      const added = await accounts.add({ username, password, isEnabled, remarks, expiresAt }, by, set);
      if (!added.ok) return ADD_PROBLEMS[added.reason];
      const { id } = added.account;
      if (set) limits.adopt(id, set);
      return shown(id, 201, {
        credentials: credentialsInFormats(uses, ctx.hostname, { id, username, password }),
      });
    },

    getAccount: async ({ params }) => shown(params.id.toLowerCase()),

    async changeAccount({ params, body, caller, ifMatch }) {
      const id = params.id.toLowerCase();
      const wrong = await refuseLimits(uses, body.limits, caller, limits.glance(id).limits.egressClass);
      if (wrong) return wrong;
      const { isEnabled, remarks } = body;
      const expiresAt = body.expiresAt === undefined ? undefined : fromIsoOrNull(body.expiresAt);
      const by = actorOf(caller);
      const changed = await accounts.patch(id, { isEnabled, remarks, expiresAt }, by, () =>
        isCurrent(id, ifMatch),
      );
      if (!changed.ok) return PATCH_PROBLEMS[changed.reason];
      if (body.limits) await limits.change(id, given(body.limits), by);
      return shown(id);
    },

    async deleteAccount({ params, caller, ifMatch }) {
      const id = params.id.toLowerCase();
      const view = accounts.get(id);
      if (!view) return NO_ACCOUNT;
      if (!isCurrent(id, ifMatch)) return CHANGED_MEANWHILE;
      const sessionsEnded = sessions.countOf(id);
      const removed = await accounts.remove(id, actorOf(caller));
      if (!removed.ok) return NO_ACCOUNT;
      return { status: 200, body: { heartbeatsRemoved: view.dataCount, sessionsEnded } };
    },

    async resetPassword({ params, body, caller, ctx }) {
      const id = params.id.toLowerCase();
      const password = body.password ?? randomPassword();
      const changed = await accounts.patch(id, { password }, actorOf(caller));
      if (!changed.ok) return PATCH_PROBLEMS[changed.reason];
      const { username } = changed.account;
      return { status: 200, body: credentialsInFormats(uses, ctx.hostname, { id, username, password }) };
    },

    async getCredentials({ params, body: { password }, ctx }) {
      const view = accounts.get(params.id.toLowerCase());
      if (!view) return NO_ACCOUNT;
      const { id, username, passwordHash } = view.account;
      if (!verifyPassword(password, passwordHash))
        return invalid('body.password', 'is not that of the account');
      return { status: 200, body: credentialsInFormats(uses, ctx.hostname, { id, username, password }) };
    },
  };
}

/** The fields that were sent; null among them is "no limit". */
export function given(
  change: { [K in keyof AccountLimits]?: AccountLimits[K] | undefined },
): Partial<AccountLimits> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/**
 * Before anything is written: whether limits name an egress class that there is, and the caller may choose it.
 * @param present the class of the account; undefined: there are several, or it is not known
 */
export async function refuseLimits(
  { limits }: Pick<AccountUses, 'limits'>,
  change: { readonly egressClass?: string | null | undefined } | undefined,
  caller: Caller,
  present?: string | null,
): Promise<ProblemAnswer | null> {
  if (change?.egressClass === undefined || change.egressClass === present) return null;
  const refused = refuseCaller(caller, 'egress:write');
  if (refused) return refused;
  if (limits.hasEgressClass(change.egressClass)) return null;
  const message = 'the configuration has no such class (egress.classes)';
  return { problem: 'validation', errors: [{ path: 'body.limits.egressClass', message }] };
}

export const NO_ACCOUNT: ProblemAnswer = { problem: 'not-found', detail: 'there is no such account' };
const CHANGED_MEANWHILE: ProblemAnswer = {
  problem: 'changed-meanwhile',
  detail: 'the account is no longer that of this ETag',
};

export const invalid = (path: string, message: string): ProblemAnswer => ({
  problem: 'validation',
  errors: [{ path, message }],
});
const BAD_USERNAME = invalid('body.username', 'must be 1 to 255 bytes of UTF-8 without control characters');
const BAD_PASSWORD = invalid('body.password', 'must be 1 to 255 bytes of UTF-8 and not only white space');
const BAD_REMARKS = invalid('body.remarks', 'holds characters that cannot be stored');

const BAD_EXPIRY = invalid('body.expiresAt', TIME_RANGE);

const ADD_PROBLEMS: Readonly<Record<AddRefusal, ProblemAnswer>> = {
  'empty-credentials': BAD_USERNAME,
  'invalid-username': BAD_USERNAME,
  'invalid-password': BAD_PASSWORD,
  'invalid-remarks': BAD_REMARKS,
  'invalid-expiry': BAD_EXPIRY,
  'username-taken': { problem: 'username-taken' },
};
const PATCH_PROBLEMS = {
  'invalid-password': BAD_PASSWORD,
  'invalid-remarks': BAD_REMARKS,
  'invalid-expiry': BAD_EXPIRY,
  'not-found': NO_ACCOUNT,
  'changed-meanwhile': CHANGED_MEANWHILE,
} as const;
