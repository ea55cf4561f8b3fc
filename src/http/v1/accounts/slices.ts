// Work on many accounts in transactions of 250 accounts each, as one entry of the audit log; and what a previewed change needs of the
// caller's budget, before it is made.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Account } from '../../../core/accounts/account.js';
import type { AccountChange } from '../../../core/accounts/account-input.js';
import { type Cost, needsOf } from '../../../core/accounts/plans/budget.js';
import { type Actor, auditRecord } from '../../../core/audit/audit.js';
import type { Operators } from '../../../core/auth/operators.js';
import type { Log } from '../../../core/log.js';
import { component } from '../../api/schemas.js';
import type { Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import { endRecords } from '../activity/sessions.js';
import type { BulkAction } from './bulk-action.js';
import { type Affected, affectedFor } from './bulk-effect.js';
import type { SkippedAccount } from './schemas.js';

/** Accounts per transaction; other writers run between two transactions. */
const SLICE = 250;

/**
 * Runs the work slice by slice; it returns the number of accounts that it changed. Work on several items is one entry of the audit log,
 * which contains the entries that are recorded as made by the given actor. Returns the items from the first failed write on, so that
 * the caller can report what was written before. Rejects when nothing was written.
 */
export async function inAuditedSlices<Item>(
  items: readonly Item[],
  { audit, log }: Pick<Services, 'audit' | 'log'>,
  { by, type }: { readonly by: Actor; readonly type: string },
  work: (slice: readonly Item[], by: Actor) => Promise<number>,
): Promise<readonly Item[]> {
  if (items.length < 2) return inSlices(items, log, (slice) => work(slice, by));
  let count = 0;
  const after = () => ({ bulk: type, count });
  const object = { type: 'account', id: null, name: null } as const;
  // The key of the request is stored with the first change.
  const begun = auditRecord({ ...by, requestKey: undefined }, 'account.bulk', object, null, after());
  const importId = await audit.begin(begun);
  return inSlices(items, log, async (slice) => {
    count += await work(slice, { ...by, importId });
    await audit.revise(importId, after()).catch((err: unknown) => {
      log.error({ err }, 'audit entry of a bulk action not updated');
    });
  });
}

async function inSlices<Item>(
  items: readonly Item[],
  log: Pick<Log, 'error'>,
  work: (slice: readonly Item[]) => Promise<unknown>,
): Promise<readonly Item[]> {
  for (let start = 0; start < items.length; start += SLICE) {
    try {
      await work(items.slice(start, start + SLICE));
    } catch (err) {
      if (start === 0) throw err;
      log.error({ err }, 'account batch not written');
      return items.slice(start);
    }
    await nextTurn();
  }
  return [];
}

/** For each id the change as it was made, or why none was. */
export type Outcomes = Map<string, Affected | SkippedAccount['reason']>;

/** Writes a slice of accounts in one transaction, and adds to `outcomes`. Returns the number of changed accounts. */
export async function carryOut(
  deps: Services,
  slice: readonly Affected[],
  action: BulkAction,
  by: Actor,
  outcomes: Outcomes,
): Promise<number> {
  const { accounts, sessions, now } = deps;
  const sliceIds = slice.map(({ view }) => view.account.id);
  for (const affected of slice) outcomes.set(affected.view.account.id, affected);
  // An effect depends on the present usage.
  sessions.count();
  const changes = slice.map(({ view }) => ({
    id: view.account.id,
    changeOf(account: Account): AccountChange | null {
      const affected = affectedFor(deps, { ...view, account }, action, now());
      outcomes.set(account.id, affected);
      return typeof affected === 'string' ? null : affected.change;
    },
  }));
  const writes: Partial<Record<BulkAction['type'], () => Promise<readonly Account[]>>> = {
    delete: () => accounts.removeMany(sliceIds, by),
    'reset-usage': () => accounts.resetUsage(sliceIds, by),
    'end-sessions': () => endSessionsOf(slice, deps, by),
  };
  const written = await (writes[action.type]?.() ?? accounts.patchMany(changes, by));
  const ids = new Set(written.map(({ id }) => id));
  for (const id of sliceIds) {
    if (typeof outcomes.get(id) !== 'string' && !ids.has(id)) outcomes.set(id, 'not-found');
  }
  return written.length;
}

async function endSessionsOf(
  slice: readonly Affected[],
  { liveSessions, audit }: Pick<Services, 'liveSessions' | 'audit'>,
  by: Actor,
): Promise<readonly Account[]> {
  for (const { view } of slice) {
    const ended = await liveSessions.ofAccount(view.account.id);
    await liveSessions.endAccount(view.account.id);
    await audit.add(endRecords(ended, by));
  }
  return slice.map(({ view }) => view.account);
}

/** null: no bound is left, or something without a bound is needed. */
const Amount = z.number().min(0).nullable();

export const BudgetPreview = component('BudgetPreview', {
  parts: z.array(
    z.object({
      what: z.enum(['accounts', 'days', 'bytes']),
      left: Amount,
      needed: Amount,
      isShort: z.boolean(),
    }),
  ),
  /** Whether the change would be refused because too little is left. */
  isShort: z.boolean(),
});

/** Reads the database: accounts at this and other daemons use the budget. Returns null for a caller who has no budget. */
export async function budgetPreview(
  { operators }: { readonly operators: Pick<Operators, 'get' | 'reload'> },
  { operator }: Caller,
  costOfChange: () => Cost | Promise<Cost>,
): Promise<z.infer<typeof BudgetPreview> | null> {
  if (operator?.role !== 'seller') return null;
  await operators.reload();
  const seller = operators.get(operator.id);
  if (!seller) return null;
  const { budget, used } = seller;
  const cost = await costOfChange();
  const parts = needsOf(budget, used, cost).map((need) => ({
    ...need,
    left: finite(need.left),
    needed: finite(need.needed),
  }));
  return { parts, isShort: parts.some(({ isShort }) => isShort) };
}

const finite = (amount: number): number | null => (Number.isFinite(amount) ? amount : null);
