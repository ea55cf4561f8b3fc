// What a bulk action changes of each account, before anything is written.
import { accountRefusal } from '../../../core/accounts/access/login.js';
import { type Account, isSuspended, UNTIL_LIFTED_MS } from '../../../core/accounts/account.js';
import { type AccountChange, changed } from '../../../core/accounts/account-input.js';
import type { AccountView } from '../../../core/accounts/account-query.js';
import { ACCESS_FIELDS, type FieldName, PLAN_FIELDS } from '../../../core/accounts/fields/account-fields.js';
import { changedTags, MAX_TAGS } from '../../../core/accounts/fields/contacts.js';
import type { Change } from '../../../core/accounts/plans/budget.js';
import { planFor } from '../../../core/accounts/plans/plans.js';
import { isByGuard } from '../../../core/accounts/usage/guard.js';
import { DAY_MS, fromIsoOrNull, isoOrNull } from '../../../core/time/clock.js';
import { isWireDate } from '../../../core/time/wire-date.js';
import type { Services } from '../../services.js';
import type { BulkAction } from './bulk-action.js';
import { randomPassword } from './credentials.js';
import type { SkippedAccount } from './schemas.js';
import { changeOf } from './shared.js';

interface Effect {
  readonly change: AccountChange;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly staysExpired?: boolean;
  readonly isShortened?: boolean;
}

export interface Affected extends Effect {
  readonly view: AccountView;
  /** Number of the account's live sessions that the change ends. */
  readonly ended: number;
}

type Show = (account: Account) => Readonly<Record<string, unknown>>;

/** Returns the effect on an account, or the reason to skip the account. */
function effectFor(
  { plans, usage, operators, sessions }: Pick<Services, 'plans' | 'usage' | 'operators' | 'sessions'>,
  { account }: AccountView,
  action: BulkAction,
  at: number,
): Effect | SkippedAccount['reason'] {
  const effect = (change: AccountChange, show?: Show) => effectOf(account, change, at, show);
  switch (action.type) {
    case 'enable':
    case 'disable':
      return effect({ isEnabled: action.type === 'enable' });
    case 'delete': {
      const before = { remarks: account.remarks, expiresAt: isoOrNull(account.expiresAt) };
      return { change: {}, before, after: null };
    }
    case 'reset-password':
      return { ...NO_CHANGE, change: { password: randomPassword() } };
    case 'reset-usage':
      return usage.lastView(account).periodBytes === 0 ? 'already-so' : NO_CHANGE;
    case 'end-sessions':
      return sessions.countOf(account.id) === 0 ? 'already-so' : NO_CHANGE;
    case 'suspend':
      if (isSuspended(account, at) && isByGuard(account.suspendReason)) return 'suspended-by-guard';
      return effect({
        suspendedUntil: fromIsoOrNull(action.until) ?? at + UNTIL_LIFTED_MS,
        suspendReason: action.reason,
      });
    case 'resume':
      if (!isSuspended(account, at)) return 'already-so';
      if (isByGuard(account.suspendReason) && !action.ofGuard) return 'suspended-by-guard';
      return effect({ suspendedUntil: null });
    case 'tag': {
      const tags = changedTags(account.tags, action);
      return tags.length > MAX_TAGS ? 'too-many-tags' : effect({ tags });
    }
    case 'plan': {
      const to = plans.byName(action.plan ?? account.plan ?? '');
      if (!to) return 'no-plan';
      return effect(planFor(account, to, action.use, usage.lastView(account), at), termsOf);
    }
    case 'hand-over': {
      const nameOf = (id: string | null) => id && (operators.get(id)?.name ?? id);
      return effect({ owner: action.owner }, ({ owner }) => ({ owner: nameOf(owner) }));
    }
    case 'set-exit':
      return effect({ exit: action.exit });
    case 'set-limits':
      // Shows every limit, not only the changed ones: a quota means little without its period.
      return effect(changeOf({ limits: action.limits }), ({ limits }) => ({ ...limits }));
    case 'set-contacts':
      return effect(changeOf({ contacts: action.contacts }), ({ contacts }) => ({ ...contacts }));
    case 'set-access':
      return effect(action.access, (each) => fieldsIn(ACCESS_FIELDS, each));
    case 'set-expiry':
      return effect({ expiresAt: fromIsoOrNull(action.expiresAt) });
    case 'extend':
      return extension(account, action, at);
  }
}

/** Of what a preview does not show. */
const NO_CHANGE: Effect = { change: {}, before: {}, after: {} };

/** The effect of a change. `show` returns what the preview shows of an account: the changed fields, unless said otherwise. */
function effectOf(
  account: Account,
  change: AccountChange,
  at: number,
  show: Show = (each) => fieldsIn(Object.keys(change) as FieldName[], each),
): Effect | SkippedAccount['reason'] {
  const next = changed(account, change);
  const { expiresAt } = next;
  if (expiresAt !== null && !isWireDate(expiresAt)) return 'failed';
  const [before, after] = [show(account), show(next)];
  if (JSON.stringify(before) === JSON.stringify(after)) return 'already-so';
  return {
    change,
    before,
    after,
    staysExpired: 'expiresAt' in after && expiresAt !== null && expiresAt <= at,
    isShortened: (expiresAt ?? Infinity) < (account.expiresAt ?? Infinity),
  };
}

function fieldsIn(names: readonly FieldName[], account: Account): Readonly<Record<string, unknown>> {
  const shown = (name: FieldName) =>
    name === 'expiresAt' || name === 'suspendedUntil' ? isoOrNull(account[name]) : account[name];
  return Object.fromEntries(names.map((name) => [name, shown(name)]));
}

/** All terms, not only the changed ones. */
const termsOf = (account: Account) => ({ ...fieldsIn(PLAN_FIELDS, account), ...account.limits });

function extension(
  account: Account,
  { days, from }: Extract<BulkAction, { type: 'extend' }>,
  at: number,
): Effect | SkippedAccount['reason'] {
  const { expiresAt, daysFromFirstLogin } = account;
  if (daysFromFirstLogin !== null && from !== 'now') {
    const sum = daysFromFirstLogin + days;
    return sum < 1 ? 'failed' : effectOf(account, { daysFromFirstLogin: sum }, at);
  }
  if (expiresAt === null && from !== 'now') return 'no-expiry';
  const old = expiresAt ?? at;
  const start = { now: at, expiry: old, later: Math.max(at, old) }[from];
  return effectOf(account, { expiresAt: start + days * DAY_MS }, at);
}

/** Returns the change as a seller's budget is charged for it. A deletion changes nothing, so it costs nothing. */
export function changeOfAffected({ view: { account }, change }: Affected): Change {
  // A new password costs nothing, and its digest takes time.
  const { password: _, ...rest } = change;
  return { before: account, after: changed(account, rest) };
}

/**
 * Returns the effect on an account, with the sessions that it ends, or the reason to skip the account. Count the sessions
 * before.
 */
export function affectedFor(
  deps: Services,
  view: AccountView,
  action: BulkAction,
  at: number,
): Affected | SkippedAccount['reason'] {
  const found = effectFor(deps, view, action, at);
  if (typeof found === 'string') return found;
  const { exit = view.account.exit } = found.change;
  if (exit !== view.account.exit && !deps.accounts.hasExit(exit, view.account.owner)) return 'no-exit';
  return { view, ...found, ended: endedBy(deps, view.account, found, action, at) };
}

/** Returns the number of the account's live sessions that an effect ends, at all nodes. */
function endedBy(
  { sessions, ...access }: Pick<Services, 'sessions' | 'schedules' | 'geo'>,
  account: Account,
  { change }: Effect,
  action: BulkAction,
  at: number,
): number {
  const live = sessions.countOf(account.id);
  if (live === 0 || ENDING.has(action.type)) return live;
  const after = changed(account, change);
  const isEnded = (client: string) => accountRefusal(after, client, access, at) !== null;
  const here = sessions.ofAccount(account.id).filter(({ client }) => isEnded(client.address)).length;
  const { clientAddresses, sessions: others } = sessions.elsewhere.of(account.id) ?? NONE_ELSEWHERE;
  const ended = clientAddresses.filter(isEnded).length;
  // Of another node only the addresses are known: at least one session each.
  return here + (ended === clientAddresses.length ? others : ended);
}

const ENDING: ReadonlySet<BulkAction['type']> = new Set(['delete', 'reset-password', 'end-sessions']);
const NONE_ELSEWHERE = { clientAddresses: [], sessions: 0 } as const;
