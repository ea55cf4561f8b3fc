// The limits of accounts: a row for each account that has or had limits.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import type { Cell } from '../../core/accounts/fields/kinds.js';
import { type AccountLimits, LIMIT_KINDS, NO_LIMITS } from '../../core/accounts/usage/limits.js';
import { type ColumnOf, columnOf } from '../sql/rows.js';
import { slices } from '../sql/statements.js';

/** Rows in one statement; thirteen bound values each, well below the limit of every database. */
const ROWS_PER_STATEMENT = 200;

const COLUMNS = LIMIT_KINDS.map(([name, kind]) => ({ name, column: columnOf(name), kind }) as const);

export type LimitsRow = Record<ColumnOf<keyof AccountLimits>, Cell> & {
  account_id: string;
  reset_at: number | null;
  reset_total_bytes: number;
};

/** Writes the limits of accounts in the transaction that adds or changes the accounts. */
export async function writeLimits(trx: Knex.Transaction, accounts: readonly Account[]): Promise<void> {
  for (const rows of slices(accounts.map(toRow), ROWS_PER_STATEMENT))
    await trx('account_limits').insert(rows).onConflict('account_id').merge();
}

/** Converts the joined limits row of an account, which may be missing. */
export function toLimits(
  row: LimitsRow | { readonly account_id: null },
): Pick<Account, 'limits' | 'quotaReset'> {
  if (row.account_id === null) return { limits: NO_LIMITS, quotaReset: null };
  const limits = COLUMNS.map(({ name, column, kind }) => [name, kind.ofColumn(row[column])]);
  const { reset_at: at, reset_total_bytes: totalBytes } = row;
  return {
    limits: Object.fromEntries(limits) as AccountLimits,
    quotaReset: at === null ? null : { at: Number(at), totalBytes: Number(totalBytes) },
  };
}

function toRow({ id, limits, quotaReset }: Account): LimitsRow {
  const columns = COLUMNS.map(({ name, column, kind }) => [column, kind.toColumn(limits[name])]);
  return {
    account_id: id,
    reset_at: quotaReset?.at ?? null,
    reset_total_bytes: quotaReset?.totalBytes ?? 0,
    ...Object.fromEntries(columns),
  };
}
