// The limits of accounts: a row for each account that has or had limits.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import { NO_LIMITS, type QuotaPeriod } from '../../core/accounts/usage/limits.js';
import { type Integer, toNumber } from '../sql/statements.js';

/** Rows in one statement; ten bound values each, well below the limit of every database. */
const ROWS_PER_STATEMENT = 200;

export interface LimitsRow {
  account_id: string;
  max_sessions: Integer | null;
  max_client_addresses: Integer | null;
  bytes_per_second_up: Integer | null;
  bytes_per_second_down: Integer | null;
  quota_bytes: Integer | null;
  quota_period: QuotaPeriod;
  egress_class: string | null;
  reset_at: Integer | null;
  reset_total_bytes: Integer;
}

/** Writes the limits of accounts in the transaction that adds or changes the accounts. */
export async function writeLimits(trx: Knex.Transaction, accounts: readonly Account[]): Promise<void> {
  for (let start = 0; start < accounts.length; start += ROWS_PER_STATEMENT) {
    const rows = accounts.slice(start, start + ROWS_PER_STATEMENT).map(toRow);
    await trx('account_limits').insert(rows).onConflict('account_id').merge();
  }
}

/** Converts the joined limits row of an account, which may be missing. */
export function toLimits(
  row: LimitsRow | { readonly account_id: null },
): Pick<Account, 'limits' | 'quotaReset'> {
  if (row.account_id === null) return { limits: NO_LIMITS, quotaReset: null };
  return {
    limits: {
      maxSessions: toNumber(row.max_sessions),
      maxClientAddresses: toNumber(row.max_client_addresses),
      bytesPerSecondUp: toNumber(row.bytes_per_second_up),
      bytesPerSecondDown: toNumber(row.bytes_per_second_down),
      quotaBytes: toNumber(row.quota_bytes),
      quotaPeriod: row.quota_period,
      egressClass: row.egress_class,
    },
    quotaReset:
      row.reset_at === null ? null : { at: Number(row.reset_at), totalBytes: Number(row.reset_total_bytes) },
  };
}

function toRow({ id, limits, quotaReset }: Account): LimitsRow {
  return {
    account_id: id,
    max_sessions: limits.maxSessions,
    max_client_addresses: limits.maxClientAddresses,
    bytes_per_second_up: limits.bytesPerSecondUp,
    bytes_per_second_down: limits.bytesPerSecondDown,
    quota_bytes: limits.quotaBytes,
    quota_period: limits.quotaPeriod,
    egress_class: limits.egressClass,
    reset_at: quotaReset?.at ?? null,
    reset_total_bytes: quotaReset?.totalBytes ?? 0,
  };
}
