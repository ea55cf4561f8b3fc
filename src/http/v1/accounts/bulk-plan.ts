// Plans the change of each account by a bulk action, before anything is written.
import type { z } from 'zod';
import { accountRefusal } from '../../../core/accounts/access/login.js';
import type { Account } from '../../../core/accounts/account.js';
import { type AccountChange, changed } from '../../../core/accounts/account-input.js';
import type { AccountView } from '../../../core/accounts/account-query.js';
import { ACCESS_FIELDS } from '../../../core/accounts/fields/account-fields.js';
import { changedContacts, changedTags, MAX_TAGS } from '../../../core/accounts/fields/contacts.js';
import type { Change } from '../../../core/accounts/plans/budget.js';
import { planFor } from '../../../core/accounts/plans/plans.js';
import type { AccountLimits } from '../../../core/accounts/usage/limits.js';
import { DAY_MS, fromIsoOrNull, isoOrNull } from '../../../core/clock.js';
import { isWireDate } from '../../../core/time/wire-date.js';
import { withoutUndefined } from '../../fields.js';
import type { Services } from '../../services.js';
import type { BulkAction } from './bulk-action.js';
import { randomPassword } from './credentials.js';
import type { AccessChange } from './field-schemas.js';
import type { SkippedAccount } from './schemas.js';
import { changeOf } from './shared.js';

interface Plan {
  readonly change: AccountChange;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly staysExpired?: boolean;
  readonly isShortened?: boolean;
}

export interface Planned extends Plan {
  readonly view: AccountView;
  /** Number of the account's live sessions that the change ends. */
  readonly ended: number;
}

/** Returns the planned change of an account, or the reason to skip the account. */
function changeFor(
  { plans, usage, operators }: Pick<Services, 'plans' | 'usage' | 'operators'>,
  view: AccountView,
  action: BulkAction,
  at: number,
): Plan | SkippedAccount['reason'] {
  const { account } = view;
  switch (action.type) {
    case 'enable':
    case 'disable': {
      const isEnabled = action.type === 'enable';
      if (account.isEnabled === isEnabled) return 'already-so';
      return { change: { isEnabled }, before: { isEnabled: !isEnabled }, after: { isEnabled } };
    }
    case 'delete': {
      const before = { remarks: account.remarks, expiresAt: isoOrNull(account.expiresAt) };
      return { change: {}, before, after: null };
    }
    case 'reset-password':
      return { change: { password: randomPassword() }, before: {}, after: {} };
    case 'tag': {
      const tags = changedTags(account.tags, action);
      if (tags.join() === account.tags.join()) return 'already-so';
      if (tags.length > MAX_TAGS) return 'too-many-tags';
      return { change: { tags }, before: { tags: account.tags }, after: { tags } };
    }
    case 'plan': {
      const plan = plans.byName(action.plan ?? account.plan ?? '');
      if (!plan) return 'no-plan';
      const change = planFor(account, plan, action.use, usage.lastView(account), at);
      return withPlan(account, change, at);
    }
    case 'hand-over': {
      const { owner } = action;
      if (account.owner === owner) return 'already-so';
      const nameOf = (id: string | null) => id && (operators.get(id)?.name ?? id);
      const names = { before: { owner: nameOf(account.owner) }, after: { owner: nameOf(owner) } };
      return { change: { owner }, ...names };
    }
    case 'set-exit': {
      const { exit } = action;
      if (account.exit === exit) return 'already-so';
      return { change: { exit }, before: { exit: account.exit }, after: { exit } };
    }
    case 'set-limits':
      return limitsPlan(account, withoutUndefined<Partial<AccountLimits>>(action.limits));
    case 'set-contacts': {
      const { contacts } = changeOf(action);
      const [before, after] = [account.contacts, changedContacts(account.contacts, contacts)];
      if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
      return { change: { contacts }, before: { ...before }, after: { ...after } };
    }
    case 'set-access':
      return accessPlan(account, action.access);
    case 'set-expiry':
      return expiryPlan(view, fromIsoOrNull(action.expiresAt), at);
    case 'extend':
      return extension(view, action, at);
  }
}

/** Returns the planned change as a seller's budget is charged for it. A deletion changes nothing, so it costs nothing. */
export function changeOfPlanned({ view: { account }, change }: Planned): Change {
  // A new password costs nothing, and its digest takes time.
  const { password: _, ...rest } = change;
  return { before: account, after: changed(account, rest) };
}

/**
 * Returns the planned change of an account, with the sessions that it ends, or the reason to skip the account. Count the sessions
 * before.
 */
export function plannedFor(
  deps: Services,
  view: AccountView,
  action: BulkAction,
  at: number,
): Planned | SkippedAccount['reason'] {
  const found = changeFor(deps, view, action, at);
  if (typeof found === 'string') return found;
  const { exit = view.account.exit } = found.change;
  if (exit !== view.account.exit && !deps.accounts.hasExit(exit, view.account.owner)) return 'no-exit';
  return { view, ...found, ended: endedBy(deps, view.account, found, action, at) };
}

function expiryPlan(
  { account }: AccountView,
  expiresAt: number | null,
  at: number,
): Plan | SkippedAccount['reason'] {
  if (account.expiresAt === expiresAt) return 'already-so';
  return {
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
  at: number,
): Plan | SkippedAccount['reason'] {
  const { expiresAt, daysFromFirstLogin } = view.account;
  if (daysFromFirstLogin !== null && from !== 'now') {
    const after = { daysFromFirstLogin: daysFromFirstLogin + days };
    if (after.daysFromFirstLogin < 1) return 'failed';
    return { change: after, before: { daysFromFirstLogin }, after };
  }
  if (expiresAt === null && from !== 'now') return 'no-expiry';
  const old = expiresAt ?? at;
  const start = { now: at, expiry: old, later: Math.max(at, old) }[from];
  const next = start + days * DAY_MS;
  return isWireDate(next) ? expiryPlan(view, next, at) : 'failed';
}

/** Plans a change of plan. `before` and `after` contain every term, not only the changed ones. */
function withPlan(account: Account, change: AccountChange, at: number): Plan | SkippedAccount['reason'] {
  const next = changed(account, change);
  const { expiresAt } = next;
  if (expiresAt !== null && !isWireDate(expiresAt)) return 'failed';
  const [before, after] = [termsOf(account), termsOf(next)];
  if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
  return {
    ...{ change, before, after },
    staysExpired: expiresAt !== null && expiresAt <= at,
    isShortened: (expiresAt ?? Infinity) < (account.expiresAt ?? Infinity),
  };
}

function limitsPlan(
  { limits: set }: Account,
  limits: Partial<AccountLimits>,
): Plan | SkippedAccount['reason'] {
  const differing = Object.entries(limits).filter(([name, value]) => set[name as keyof typeof set] !== value);
  if (differing.length === 0) return 'already-so';
  // Shows every limit, not only the changed ones: a quota means little without its period.
  return { change: { limits }, before: { ...set }, after: { ...set, ...limits } };
}

function accessPlan(account: Account, change: z.infer<typeof AccessChange>): Plan | SkippedAccount['reason'] {
  const [before, after] = [accessOf(account), accessOf(changed(account, change))];
  if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
  return { change, before, after };
}

const accessOf = (account: Account) => Object.fromEntries(ACCESS_FIELDS.map((name) => [name, account[name]]));

/** Returns the number of the account's live sessions that a planned change ends, at all nodes. */
function endedBy(
  { sessions, ...access }: Pick<Services, 'sessions' | 'schedules' | 'geo'>,
  account: Account,
  { change }: Plan,
  action: BulkAction,
  at: number,
): number {
  const live = sessions.countOf(account.id);
  if (live === 0 || action.type === 'delete' || action.type === 'reset-password') return live;
  const after = changed(account, change);
  const isEnded = (client: string) => accountRefusal(after, client, access, at) !== null;
  const here = sessions.ofAccount(account.id).filter(({ client }) => isEnded(client.address)).length;
  const { clientAddresses, sessions: others } = sessions.elsewhere.of(account.id) ?? NONE_ELSEWHERE;
  const ended = clientAddresses.filter(isEnded).length;
  // Of another node only the addresses are known: at least one session each.
  return here + (ended === clientAddresses.length ? others : ended);
}

const NONE_ELSEWHERE = { clientAddresses: [], sessions: 0 } as const;

type Terms = Pick<Account, 'plan' | 'expiresAt' | 'daysFromFirstLogin' | 'limits' | 'exit'>;

function termsOf({ plan, expiresAt, daysFromFirstLogin, limits, exit }: Terms) {
  return { plan, expiresAt: isoOrNull(expiresAt), daysFromFirstLogin, exit, ...limits };
}
