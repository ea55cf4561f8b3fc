// Publishes the activity of accounts to other nodes, in the transaction that writes it.
import type { Knex } from 'knex';

/** One row of account_activity. */
export interface ActivityRow {
  readonly account_id: string;
  readonly kind: 'traffic' | 'login' | 'heartbeats';
  readonly day?: number;
  readonly bytes_up?: number;
  readonly bytes_down?: number;
  readonly login_at?: number;
}

export type RecordActivity = (trx: Knex, rows: readonly ActivityRow[]) => Promise<void>;

/** For databases with only one daemon. */
export const recordNoActivity: RecordActivity = async () => {};
