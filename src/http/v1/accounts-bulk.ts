// /api/v1: many accounts changed at once, by a selection, with a preview.
import type { z } from 'zod';
import { accountMatcher } from '../../core/accounts/account-query.js';
import type { AccountChange, AccountView } from '../../core/accounts/accounts.js';
import type { Actor } from '../../core/audit/audit.js';
import type { Log } from '../../core/log.js';
import { isWireDate } from '../../core/wire-date.js';
import { actorOf } from '../caller.js';
import { type AccountUses, accountFacts, given, invalid, refuseLimits } from './accounts.js';
import type { BulkRequest, manyAccountRoutes, SkippedAccount } from './contract/accounts-many.js';
import type { Handlers } from './serve.js';
import { inSlices } from './slices.js';
import { fromIsoOrNull, isoOrNull } from './times.js';

type BulkRoute = Extract<(typeof manyAccountRoutes)[number], { operationId: 'changeAccounts' }>;
type Skipped = z.infer<typeof SkippedAccount>;
type Action = z.infer<typeof BulkRequest>['action'];

const DAY_MS = 86_400_000;
const MAX_SHOWN_CHANGES = 100;
const MAX_SHOWN_SKIPPED = 1_000;

export function bulkHandlers(uses: AccountUses & { readonly log: Pick<Log, 'error'> }): Handlers<BulkRoute> {
  const { accounts, limits, sessions, log, now } = uses;
  const facts = accountFacts(uses);

  return {
    async changeAccounts({ body, caller }) {
      const { ids, filter, action, dryRun } = body;
      if ((ids === undefined) === (filter === undefined)) {
        return invalid('body', 'give exactly one of ids and filter');
      }
      const wrong = action.type === 'set-limits' ? await refuseLimits(uses, action.limits, caller) : null;
      if (wrong) return wrong;
      const at = now();
      const skipped: Skipped[] = [];
      const chosen: AccountView[] = [];
      if (ids) {
        for (const id of new Set(ids.map((each) => each.toLowerCase()))) {
          const view = accounts.get(id);
          if (view) chosen.push(view);
          else skipped.push({ id, username: '', reason: 'not-found' });
        }
      } else chosen.push(...accounts.list().filter(accountMatcher(filter ?? {}, facts, at)));

      const planned: Planned[] = [];
      for (const view of chosen) {
        const plan = planFor(view, action, at);
        if (typeof plan === 'string') {
          skipped.push({ id: view.account.id, username: view.account.username, reason: plan });
        } else planned.push({ view, ...plan });
      }
      if (body.expectedCount !== undefined && body.expectedCount !== planned.length) {
        const detail = `the preview counted ${body.expectedCount} accounts, by now it is ${planned.length}`;
        return { problem: 'conflict', detail };
      }
      const endsSessions = action.type === 'disable' || action.type === 'delete';
      const affected: Planned[] = [];
      if (dryRun) affected.push(...planned);
      else {
        const skip = ({ view: { account } }: Planned, reason: Skipped['reason']): void => {
          skipped.push({ id: account.id, username: account.username, reason });
        };
        const undone = await inSlices(planned, log, async (slice) => {
          const changed = await carryOut(slice, action, actorOf(caller));
          for (const each of slice) {
            if (changed.has(each.view.account.id)) affected.push(each);
            else skip(each, 'not-found');
          }
        });
        for (const each of undone) skip(each, 'failed');
      }
      const noticed = affected.filter(isNoticed);
      const shown = [...noticed, ...affected.filter((each) => !isNoticed(each))];
      const sum = (count: (each: Planned) => number): number =>
        affected.reduce((total, each) => total + count(each), 0);
      return {
        status: 200,
        body: {
          dryRun,
          count: affected.length,
          changes: shown.slice(0, MAX_SHOWN_CHANGES).map(({ view, before, after }) => ({
            id: view.account.id,
            username: view.account.username,
            before,
            after,
          })),
          skippedCount: skipped.length,
          skipped: skipped.slice(0, MAX_SHOWN_SKIPPED),
          sessionsEnded: endsSessions ? sum(({ live }) => live) : 0,
          heartbeatsRemoved: action.type === 'delete' ? sum(({ view }) => view.dataCount) : 0,
          stayingExpired: noticed.filter((each) => each.staysExpired).length,
          shortened: noticed.filter((each) => each.isShortened).length,
        },
      };
    },
  };

  interface Planned extends Plan {
    readonly view: AccountView;
  }

  function planFor(view: AccountView, action: Action, at: number): Plan | Skipped['reason'] {
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
      case 'set-limits': {
        const set = limits.glance(account.id).limits;
        const wanted = Object.entries(given(action.limits));
        const differing = wanted.filter(([name, value]) => set[name as keyof typeof set] !== value);
        if (differing.length === 0) return 'already-so';
        // Every limit, not only those that change: a quota says little without its period.
        return { live, change: {}, before: { ...set }, after: { ...set, ...Object.fromEntries(wanted) } };
      }
      case 'set-expiry':
        return expiryPlan(view, fromIsoOrNull(action.expiresAt), live, at);
      case 'extend': {
        if (account.expiresAt === null && action.from !== 'now') return 'no-expiry';
        const old = account.expiresAt ?? at;
        const from = { now: at, expiry: old, later: Math.max(at, old) }[action.from];
        const expiresAt = from + action.days * DAY_MS;
        if (!isWireDate(expiresAt)) return 'failed';
        return expiryPlan(view, expiresAt, live, at);
      }
    }
  }

  /** Writes some accounts in one transaction; returns the ids of those that there are. */
  async function carryOut(
    slice: readonly Planned[],
    action: Action,
    by: Actor,
  ): Promise<ReadonlySet<string>> {
    const ids = slice.map(({ view }) => view.account.id);
    if (action.type === 'set-limits') {
      const change = given(action.limits);
      return limits.changeMany(
        ids.map((accountId) => ({ accountId, change })),
        by,
      );
    }
    const changed =
      action.type === 'delete'
        ? await accounts.removeMany(ids, by)
        : await accounts.patchMany(
            slice.map(({ view, change }) => ({ id: view.account.id, change })),
            by,
          );
    return new Set(changed.map(({ id }) => id));
  }
}

interface Plan {
  /** Live sessions of the account at that moment. */
  readonly live: number;
  readonly change: AccountChange;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly staysExpired?: boolean;
  readonly isShortened?: boolean;
}

const isNoticed = ({ staysExpired, isShortened }: Plan): boolean => !!staysExpired || !!isShortened;

function expiryPlan(
  { account }: AccountView,
  expiresAt: number | null,
  live: number,
  at: number,
): Plan | Skipped['reason'] {
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
