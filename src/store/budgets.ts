// Charges a seller's budget, and checks that the accounts are its own, in the transaction that writes the accounts.
import type { Knex } from 'knex';
import type { Account } from '../core/accounts/account.js';
import { type Cost, checkBudget, costOf, sumOf } from '../core/accounts/budget.js';
import type { Actor } from '../core/audit/audit.js';
import { RightsLost } from '../core/auth/operator.js';
import { ROLE_SCOPES, type Role } from '../core/auth/roles.js';
import { type Integer, toNumber } from './integers.js';

export interface BudgetRow {
  budget_accounts: Integer | null;
  budget_days: Integer | null;
  budget_bytes: Integer | null;
  used_accounts: Integer;
  used_ms: Integer;
  used_bytes: Integer;
}

interface ActingRow extends BudgetRow {
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

/**
 * Charges the seller that makes these changes. Changes by others cost nothing. The row lock keeps other transactions from charging
 * the seller, or taking its rights, until this one ends. Rejects with OverBudget, and with RightsLost when the operator or the owner
 * of a new account is gone: memory may not know that yet.
 */
export async function chargeSeller(
  trx: Knex.Transaction,
  { operatorId }: Actor,
  changes: readonly { readonly before: Account | null; readonly after: Account }[],
  now: number,
): Promise<void> {
  await checkOwners(trx, changes);
  if (operatorId === undefined || changes.length === 0) return;
  const seller = { id: operatorId };
  const row: ActingRow | undefined = await trx('operators').where(seller).forUpdate().first();
  if (!row?.is_enabled || !ROLE_SCOPES[row.role].includes('accounts:write')) {
    throw new RightsLost('the operator may not change accounts any more');
  }
  if (row.role !== 'seller') return;
  const cost = sumOf(changes.map(({ before, after }) => costOf(before, after, now)));
  checkBudget(toBudget(row), toUsed(row), cost);
  const grown = ([column, by]: readonly [string, number]) => [
    column,
    trx.raw('?? + ?', [column, stored(by)]),
  ];
  const columns = [
    ['used_accounts', cost.accounts],
    ['used_ms', cost.ms],
    ['used_bytes', cost.bytes],
  ] as const;
  await trx('operators')
    .where(seller)
    .update(Object.fromEntries(columns.map(grown)));
}

async function checkOwners(
  trx: Knex.Transaction,
  changes: readonly { readonly before: Account | null; readonly after: Account }[],
): Promise<void> {
  const added = changes.flatMap(({ before, after }) =>
    before === null && after.owner !== null ? [after.owner] : [],
  );
  for (const id of [...new Set(added)].sort()) {
    const owner: unknown = await trx('operators').where({ id }).forUpdate().first('id');
    if (!owner) throw new RightsLost('the owner of the account is gone');
  }
}

/**
 * Returns those of the locked accounts that the actor may change: of a seller its own. The owner may have changed since the request
 * was checked. An operator that was removed meanwhile changes nothing.
 */
export async function ownOf(
  trx: Knex.Transaction,
  { operatorId }: Actor,
  locked: ReadonlyMap<string, Account>,
): Promise<ReadonlyMap<string, Account>> {
  if (operatorId === undefined) return locked;
  const own = [...locked].filter(([, { owner }]) => owner === operatorId);
  if (own.length === locked.size) return locked;
  const operator: { role: string } | undefined = await trx('operators')
    .where({ id: operatorId })
    .first('role');
  return operator && operator.role !== 'seller' ? locked : new Map(own);
}

/** An infinite amount is not counted: only a budget without a bound allows it. */
const stored = (amount: number): number =>
  Number.isFinite(amount) ? Math.min(Math.ceil(amount), Number.MAX_SAFE_INTEGER) : 0;
