// Charges a seller's budget in the transaction that writes the accounts.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import { type Cost, checkBudget, costOfAll } from '../../core/accounts/plans/budget.js';
import { type Moment, readTraffic } from '../../core/accounts/usage/traffic-store.js';
import type { Role } from '../../core/auth/roles.js';
import { type Integer, toNumber } from '../sql/integers.js';
import { trafficSums } from './traffic.js';

export interface BudgetRow {
  budget_accounts: Integer | null;
  budget_days: Integer | null;
  budget_bytes: Integer | null;
  used_accounts: Integer;
  used_ms: Integer;
  used_bytes: Integer;
}

/** The operator who makes a change of accounts. */
export interface ActingOperator extends BudgetRow {
  id: string;
  role: Role;
  is_enabled: number | boolean;
}

export const toBudget = (row: BudgetRow) => ({
  accounts: toNumber(row.budget_accounts),
  days: toNumber(row.budget_days),
  bytes: toNumber(row.budget_bytes),
});

export const toUsed = (row: BudgetRow): Cost => ({
  accounts: Number(row.used_accounts),
  ms: Number(row.used_ms),
  bytes: Number(row.used_bytes),
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
