// The operators table, the rows that belong to an operator, and the transaction in which one changes accounts: it checks the operator's
// rights in the database, because the cache may not contain yet that the administrator revoked them, and charges a seller's budget.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import { type Cost, checkBudget, costOfAll } from '../../core/accounts/plans/budget.js';
import { type Moment, readTraffic } from '../../core/accounts/usage/traffic-store.js';
import type { Actor } from '../../core/audit/audit.js';
import {
  OPERATORS_KEY,
  type Operator,
  OperatorNameTaken,
  type OperatorStore,
  operatorSettingsPrefix,
  RightsLost,
  ROLE_SCOPES,
  type Role,
} from '../../core/auth/operator.js';
import type { StoreContext } from '../database.js';
import { fromRow, inTransaction, isUniqueViolation, toRow } from '../sql.js';
import { changeSetting, endAccess } from './settings.js';
import { trafficSums } from './traffic.js';

export function createOperatorStore(context: StoreContext): OperatorStore {
  const { db, following, recordChange, recordAudit } = context;

  return {
    async all() {
      const rows: BudgetRow[] = await following('operators');
      return rows.map(toOperator);
    },

    async add(operator, audit) {
      const isAdded = await changeSetting(context, OPERATORS_KEY, audit, async (trx) => {
        const row = toOperatorRow(operator);
        const added: unknown[] = await trx('operators')
          .insert(row)
          .onConflict('name')
          .ignore()
          .returning('id');
        return added.length > 0;
      });
      if (!isAdded) throw new OperatorNameTaken('another operator has the name');
    },

    update: (id, changed) =>
      inTransaction(db, async (trx) => {
        const row: BudgetRow | undefined = await trx('operators').where({ id }).forUpdate().first();
        if (!row) return null;
        const next = changed(toOperator(row));
        if (typeof next === 'string') return next;
        const { operator, audit, ended } = next;
        try {
          await trx('operators').where({ id }).update(toOperatorRow(operator));
        } catch (cause) {
          if (!isUniqueViolation(cause)) throw cause;
          throw new OperatorNameTaken('another operator has the name', { cause });
        }
        await recordChange(trx, 'setting', OPERATORS_KEY);
        if (ended) await endAccess(trx, ended, recordChange);
        await recordAudit(trx, [audit]);
        return operator;
      }),

    remove: (id, audit) =>
      changeSetting(context, OPERATORS_KEY, audit, async (trx) => {
        const removed = await trx('operators').where({ id }).delete();
        await endAccess(trx, { operatorId: id, tokens: true }, recordChange);
        await trx('settings')
          .where('key', 'like', `${operatorSettingsPrefix(id)}.%`)
          .delete();
        const owned = trx('accounts').where({ owner: id }).select('id');
        await trx('player_links').whereIn('account_id', owned).delete();
        const accounts: { id: string }[] = await trx('accounts')
          .where({ owner: id })
          // The removed seller knows the links.
          .update({ owner: null, link_hash: null, link_created_at: null })
          .returning('id');
        await recordChange(trx, 'account', ...accounts.map((account) => account.id));
        return removed > 0;
      }),
  };
}

/** Omits the used part of the budget, which only account changes update. */
const toOperatorRow = ({ budget, used: _, ...operator }: Operator) =>
  toRow({ ...operator, budgetAccounts: budget.accounts, budgetDays: budget.days, budgetBytes: budget.bytes });

function toOperator(row: BudgetRow): Operator {
  const { id, name, passwordHash, role, isEnabled, createdAt } = fromRow<Operator>(row);
  const fields = { id, name, passwordHash, role, isEnabled: Boolean(isEnabled), createdAt };
  return { ...fields, budget: toBudget(row), used: toUsed(row) };
}

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

interface BudgetRow {
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

const toBudget = (row: BudgetRow) => ({
  accounts: row.budget_accounts,
  days: row.budget_days,
  bytes: row.budget_bytes,
});

const toUsed = (row: BudgetRow): Cost => ({
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
