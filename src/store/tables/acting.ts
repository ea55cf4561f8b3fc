// The transaction in which an operator changes accounts. It checks the operator's rights in the database, because the cache may not
// contain yet that the administrator revoked them, or that an account has another owner; and it charges a seller's budget.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import { type Cost, checkBudget, costOfAll } from '../../core/accounts/plans/budget.js';
import { type Moment, readTraffic } from '../../core/accounts/usage/traffic-store.js';
import type { Actor } from '../../core/audit/audit.js';
import { RightsLost, ROLE_SCOPES, type Role } from '../../core/auth/operator.js';
import { inTransaction } from '../sql.js';
import { trafficSums } from './traffic.js';

/**
 * Runs `work` in one transaction, with the operator who makes the change; null: the administrator, a player or the daemon. The row
 * lock prevents other transactions from charging the operator, or revoking its rights, until this one ends. Every write of accounts
 * uses this function. Rejects with RightsLost, and changes nothing, when the operator may no longer change accounts.
 */
export function changeAccounts<T>(
  db: Knex,
  { operatorId }: Actor,
  work: (trx: Knex.Transaction, operator: ActingOperator | null) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    if (operatorId === undefined) return work(trx, null);
    const row: ActingOperator | undefined = await trx('operators')
      .where({ id: operatorId })
      .forUpdate()
      .first();
    if (!row?.is_enabled || !ROLE_SCOPES[row.role].includes('accounts:write')) {
      throw new RightsLost('rights-lost');
    }
    return work(trx, row);
  });
}

/** Returns whether the operator may change an account of this owner: a seller only its own. */
export const mayChange = (operator: ActingOperator | null, owner: string | null): boolean =>
  operator?.role !== 'seller' || owner === operator.id;

/** Returns the locked accounts that the operator may change. The owner may have changed since the request was checked. */
export function ownOf(
  operator: ActingOperator | null,
  locked: ReadonlyMap<string, Account>,
): ReadonlyMap<string, Account> {
  return new Map([...locked].filter(([, { owner }]) => mayChange(operator, owner)));
}

/** Rejects with RightsLost when a new owner does not exist, or when a seller changes an account that is not its own. */
export async function checkOwners(
  trx: Knex.Transaction,
  operator: ActingOperator | null,
  changes: readonly { readonly before: Account | null; readonly after: Account }[],
): Promise<void> {
  if (changes.some(({ after }) => !mayChange(operator, after.owner))) {
    throw new RightsLost('not-own-account');
  }
  const newOwners = changes.flatMap(({ before, after }) =>
    after.owner !== null && after.owner !== before?.owner ? [after.owner] : [],
  );
  for (const id of [...new Set(newOwners)].sort()) {
    const owner: unknown = await trx('operators').where({ id }).forUpdate().first('id');
    if (!owner) throw new RightsLost('owner-gone');
  }
}

export interface BudgetRow {
  budget_accounts: number | null;
  budget_days: number | null;
  budget_bytes: number | null;
  used_accounts: number;
  used_ms: number;
  used_bytes: number;
}

/** The operator who makes a change of accounts. */
interface ActingOperator extends BudgetRow {
  id: string;
  role: Role;
  is_enabled: number | boolean;
}

export const toBudget = (row: BudgetRow) => ({
  accounts: row.budget_accounts,
  days: row.budget_days,
  bytes: row.budget_bytes,
});

export const toUsed = (row: BudgetRow): Cost => ({
  accounts: row.used_accounts,
  ms: row.used_ms,
  bytes: row.used_bytes,
});

/** Charges the seller that makes these changes. Changes by others cost nothing. Rejects with OverBudget. */
export async function chargeSeller(
  trx: Knex.Transaction,
  operator: ActingOperator | null,
  changes: readonly { readonly before: Account | null; readonly after: Account }[],
  at: Moment,
): Promise<void> {
  if (operator?.role !== 'seller' || changes.length === 0) return;
  const cost = await costOfAll(
    changes,
    (accounts) => readTraffic((day, ids) => trafficSums(trx, day, ids), accounts, at),
    at,
  );
  checkBudget(toBudget(operator), toUsed(operator), cost);
  // Without a bound, the used part may grow without end: it stays within what a number and the column can hold.
  const grown = ([column, by]: readonly [string, number]) => [
    column,
    trx.raw('case when ?? > ? then ? else ?? + ? end', [
      ...[column, MAX_USED - storable(by), MAX_USED],
      ...[column, storable(by)],
    ]),
  ];
  const columns = [
    ['used_accounts', cost.accounts],
    ['used_ms', cost.ms],
    ['used_bytes', cost.bytes],
  ] as const;
  await trx('operators')
    .where({ id: operator.id })
    .update(Object.fromEntries(columns.map(grown)));
}

const MAX_USED = Number.MAX_SAFE_INTEGER;

/** An infinite amount is stored as 0, because only a budget without a bound allows it. */
const storable = (amount: number): number =>
  Number.isFinite(amount) ? Math.min(Math.ceil(amount), MAX_USED) : 0;
