// The operators table, and the rows that belong to an operator.
import type { Knex } from 'knex';
import type { AuditRecord } from '../../core/audit/audit.js';
import {
  OPERATORS_KEY,
  type Operator,
  OperatorNameTaken,
  type OperatorStore,
  operatorSettingsPrefix,
} from '../../core/auth/operator.js';
import type { StoreContext } from '../database.js';
import { fromRow, inTransaction, isUniqueViolation, toRow } from '../sql.js';
import { type BudgetRow, toBudget, toUsed } from './acting.js';
import { endAccess } from './settings.js';

export function createOperatorStore(context: StoreContext): OperatorStore {
  const { db, following, recordChange, recordAudit } = context;
  /** Runs one change of the table. `write` returns the number of changed rows. */
  const change = (audit: AuditRecord, write: (trx: Knex.Transaction) => Promise<number>): Promise<boolean> =>
    inTransaction(db, async (trx) => {
      if ((await write(trx)) === 0) return false;
      await recordChange(trx, 'setting', OPERATORS_KEY);
      await recordAudit(trx, [audit]);
      return true;
    });

  return {
    async all() {
      const rows: BudgetRow[] = await following('operators');
      return rows.map(toOperator);
    },

    async add(operator, audit) {
      const isAdded = await change(audit, async (trx) => {
        const added: unknown[] = await trx('operators')
          .insert(toOperatorRow(operator))
          .onConflict('name')
          .ignore()
          .returning('id');
        return added.length;
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
      change(audit, async (trx) => {
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
        return removed;
      }),
  };
}

/** Omits the used part of the budget, which only account changes update. */
const toOperatorRow = ({ budget, used: _, ...operator }: Operator) =>
  toRow({ ...operator, budgetAccounts: budget.accounts, budgetDays: budget.days, budgetBytes: budget.bytes });

function toOperator(row: BudgetRow): Operator {
  const { id, name, passwordHash, role, isEnabled, createdAt } = fromRow<Operator>(row);
  const budget = toBudget(row);
  return {
    id,
    name,
    passwordHash,
    role,
    isEnabled: Boolean(isEnabled),
    createdAt,
    budget,
    used: toUsed(row),
  };
}
