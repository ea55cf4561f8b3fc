// The transaction in which an operator changes accounts. It checks the operator's rights in the database, because the cache may not
// contain yet that the administrator revoked them, or that an account has another owner.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import type { Actor } from '../../core/audit/audit.js';
import { RightsLost } from '../../core/auth/operator.js';
import { ROLE_SCOPES } from '../../core/auth/roles.js';
import { inTransaction } from '../sql/transaction.js';
import type { ActingOperator } from './budgets.js';

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
export function mayChange(operator: ActingOperator | null, owner: string | null): boolean {
  return operator?.role !== 'seller' || owner === operator.id;
}

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
