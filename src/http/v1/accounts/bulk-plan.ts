// Plans the change of each account by a bulk action before anything is written, and then writes the changes.
import { z } from 'zod';
import { type Account, withUpdate } from '../../../core/accounts/account.js';
import { type AccountChange, toUpdate } from '../../../core/accounts/account-input.js';
import type { AccountView } from '../../../core/accounts/account-views.js';
import { type Cost, costOf } from '../../../core/accounts/budget.js';
import { changedContacts } from '../../../core/accounts/contacts.js';
import type { AccountLimits } from '../../../core/accounts/limits.js';
import { planFor } from '../../../core/accounts/plans.js';
import { changedTags, MAX_TAGS } from '../../../core/accounts/tags.js';
import type { Actor } from '../../../core/audit/audit.js';
import { DAY_MS } from '../../../core/clock.js';
import { fromIsoOrNull, isoOrNull } from '../../../core/iso-time.js';
import { isWireDate } from '../../../core/wire-date.js';
import { Guid, TimeIn } from '../schemas.js';
import { withoutUndefined } from '../without-undefined.js';
import { randomPassword } from './credentials.js';
import { AccountLimitsChange, ContactsChange, Tags } from './field-schemas.js';
import type { SkippedAccount } from './schemas.js';
import { type AccountUses, contactsOf } from './shared.js';

export const BulkAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enable') }),
  z.object({ type: z.literal('disable') }),
  z.object({ type: z.literal('delete') }),
  z.object({ type: z.literal('reset-password') }),
  /** A tag in both lists is removed. */
  z.object({ type: z.literal('tag'), add: Tags.default([]), remove: Tags.default([]) }),
  /**
   * Renews by a plan, or upgrades to one; null: each account by its own plan. `renew` adds the plan's days to the later of now and
   * the old expiry, and adds the plan's quota, if it never resets, to the rest of the old one. `upgrade` leaves the expiry
   * unchanged, and raises the rest of a quota that never resets to at least the plan's quota.
   */
  z.object({
    type: z.literal('plan'),
    plan: z.string().max(64).nullable(),
    use: z.enum(['renew', 'upgrade']),
  }),
  /** Changes the owner to a seller, or to the administrator (null). Only the administrator may do this. */
  z.object({ type: z.literal('hand-over'), owner: Guid.nullable() }),
  z.object({ type: z.literal('set-limits'), limits: AccountLimitsChange }),
  /** Changes the parts of the contacts that it contains. */
  z.object({ type: z.literal('set-contacts'), contacts: ContactsChange }),
  z.object({ type: z.literal('set-expiry'), expiresAt: TimeIn.nullable() }),
  z.object({
    type: z.literal('extend'),
    days: z.int().min(-3_650).max(3_650),
    /**
     * The start of the days. `expiry`: the old expiry; `now`: this moment; `later`: the later of the two. `expiry` and `later` skip
     * an account that never expires.
     */
    from: z.enum(['expiry', 'now', 'later']),
  }),
]);
export type BulkAction = z.infer<typeof BulkAction>;

interface Plan {
  /** Number of the account's live sessions when the plan is made. */
  readonly live: number;
  readonly change: AccountChange;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly staysExpired?: boolean;
  readonly isShortened?: boolean;
}

export interface Planned extends Plan {
  readonly view: AccountView;
}

/** Returns the planned change of an account, or the reason to skip the account. */
export function changeFor(
  { sessions, plans, usage, operators }: Pick<AccountUses, 'sessions' | 'plans' | 'usage' | 'operators'>,
  view: AccountView,
  action: BulkAction,
  at: number,
): Plan | SkippedAccount['reason'] {
  const { account } = view;
  const live = sessions.countOf(account.id);
  switch (action.type) {
    case 'enable':
    case 'disable': {
      const isEnabled = action.type === 'enable';
      if (account.isEnabled === isEnabled) return 'already-so';
      return { live, change: { isEnabled }, before: { isEnabled: !isEnabled }, after: { isEnabled } };
    }
    case 'delete': {
      const before = { remarks: account.remarks, expiresAt: isoOrNull(account.expiresAt) };
      return { live, change: {}, before, after: null };
    }
    case 'reset-password':
      return { live, change: { password: randomPassword() }, before: {}, after: {} };
    case 'tag': {
      const tags = changedTags(account.tags, action);
      if (tags.join() === account.tags.join()) return 'already-so';
      if (tags.length > MAX_TAGS) return 'too-many-tags';
      return { live, change: { tags }, before: { tags: account.tags }, after: { tags } };
    }
    case 'plan': {
      const plan = plans.byName(action.plan ?? account.plan ?? '');
      if (!plan) return 'no-plan';
      const change = planFor(account, plan, action.use, usage.view(account), at);
      return withPlan(account, change, live, at);
    }
    case 'hand-over': {
      const owner = action.owner?.toLowerCase() ?? null;
      if (account.owner === owner) return 'already-so';
      const nameOf = (id: string | null) => id && (operators.get(id)?.name ?? id);
      const names = { before: { owner: nameOf(account.owner) }, after: { owner: nameOf(owner) } };
      return { live, change: { owner }, ...names };
    }
    case 'set-limits': {
      const set = account.limits;
      const limits = withoutUndefined<Partial<AccountLimits>>(action.limits);
      const wanted = Object.entries(limits);
      const differing = wanted.filter(([name, value]) => set[name as keyof typeof set] !== value);
      if (differing.length === 0) return 'already-so';
      // Shows every limit, not only the changed ones: a quota means little without its period.
      return { live, change: { limits }, before: { ...set }, after: { ...set, ...limits } };
    }
    case 'set-contacts': {
      const contacts = contactsOf(action) ?? {};
      const [before, after] = [account.contacts, changedContacts(account.contacts, contacts)];
      if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
      return { live, change: { contacts }, before: { ...before }, after: { ...after } };
    }
    case 'set-expiry':
      return expiryPlan(view, fromIsoOrNull(action.expiresAt), live, at);
    case 'extend':
      return extension(view, action, live, at);
  }
}

/** Returns what a planned change takes of a seller's budget. A deletion changes nothing, so it costs nothing. */
export function costOfPlanned({ view: { account }, change }: Planned, now: number): Cost {
  // A new password costs nothing, and its digest takes time.
  const { password: _, ...rest } = change;
  return costOf(account, withUpdate(account, toUpdate(rest)), now);
}

/** Writes a slice of accounts in one transaction. Returns the ids of the accounts that still exist. */
export async function carryOut(
  { accounts }: Pick<AccountUses, 'accounts'>,
  slice: readonly Planned[],
  action: BulkAction,
  by: Actor,
): Promise<ReadonlySet<string>> {
  const ids = slice.map(({ view }) => view.account.id);
  const changed =
    action.type === 'delete'
      ? await accounts.removeMany(ids, by)
      : await accounts.patchMany(
          slice.map(({ view, change }) => ({ id: view.account.id, change })),
          by,
        );
  return new Set(changed.map(({ id }) => id));
}

function expiryPlan(
  { account }: AccountView,
  expiresAt: number | null,
  live: number,
  at: number,
): Plan | SkippedAccount['reason'] {
  if (account.expiresAt === expiresAt) return 'already-so';
  return {
    live,
    change: { expiresAt },
    before: { expiresAt: isoOrNull(account.expiresAt) },
    after: { expiresAt: isoOrNull(expiresAt) },
    staysExpired: expiresAt !== null && expiresAt <= at,
    isShortened: (expiresAt ?? Infinity) < (account.expiresAt ?? Infinity),
  };
}

function extension(
  view: AccountView,
  { days, from }: Extract<BulkAction, { type: 'extend' }>,
  live: number,
  at: number,
): Plan | SkippedAccount['reason'] {
  const { expiresAt, daysFromFirstLogin } = view.account;
  if (daysFromFirstLogin !== null && from !== 'now') {
    const after = { daysFromFirstLogin: daysFromFirstLogin + days };
    if (after.daysFromFirstLogin < 1) return 'failed';
    return { live, change: after, before: { daysFromFirstLogin }, after };
  }
  if (expiresAt === null && from !== 'now') return 'no-expiry';
  const old = expiresAt ?? at;
  const start = { now: at, expiry: old, later: Math.max(at, old) }[from];
  const next = start + days * DAY_MS;
  return isWireDate(next) ? expiryPlan(view, next, live, at) : 'failed';
}

/** Plans a change of plan. `before` and `after` contain every term, not only the changed ones. */
function withPlan(
  account: Account,
  change: AccountChange,
  live: number,
  at: number,
): Plan | SkippedAccount['reason'] {
  const next = withUpdate(account, toUpdate(change));
  const { expiresAt } = next;
  if (expiresAt !== null && !isWireDate(expiresAt)) return 'failed';
  const [before, after] = [termsOf(account), termsOf(next)];
  if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
  return {
    ...{ live, change, before, after },
    staysExpired: expiresAt !== null && expiresAt <= at,
    isShortened: (expiresAt ?? Infinity) < (account.expiresAt ?? Infinity),
  };
}

type Terms = Pick<Account, 'plan' | 'expiresAt' | 'daysFromFirstLogin' | 'limits'>;

function termsOf({ plan, expiresAt, daysFromFirstLogin, limits }: Terms): Readonly<Record<string, unknown>> {
  return { plan, expiresAt: isoOrNull(expiresAt), daysFromFirstLogin, ...limits };
}
