// The tables of the schema for `pulsegate database copy`: which tables are copied, in which order, and why the others are not. Also
// the interface of the two databases.
import type { Knex } from 'knex';

export interface CopiedTable {
  readonly name: string;
  /** The primary key. Rows are read in its order, in batches. */
  readonly key: readonly string[];
  /** Number of rows in memory at once; fewer for tables whose rows may contain long texts. */
  readonly rowsAtOnce: number;
}

const SHORT_ROWS = 250;
const LONG_ROWS = 25;

function table(name: string, key: readonly string[], rowsAtOnce = SHORT_ROWS): CopiedTable {
  return { name, key, rowsAtOnce };
}

/** A table comes after the tables that it refers to. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  table('settings', ['key']),
  table('accounts', ['position']),
  table('account_limits', ['account_id']),
  table('authorized_addresses', ['account_id', 'position']),
  table('player_links', ['account_id', 'kind']),
  table('contact_codes', ['account_id', 'channel']),
  table('heartbeat_totals', ['account_id']),
  table('heartbeats', ['id']),
  table('heartbeat_sums', ['step_seconds', 'at', 'account_id', 'game_id']),
  table('traffic_days', ['account_id', 'day']),
  table('traffic_parts', ['account_id', 'day', 'kind', 'name']),
  table('logins', ['id']),
  table('session_records', ['id']),
  table('samples', ['step', 'at']),
  table('audit', ['id'], LONG_ROWS),
  table('operators', ['id']),
  table('console_sessions', ['hash']),
  table('api_tokens', ['id']),
  table('runners', ['id']),
  table('runs', ['id'], LONG_ROWS),
  table('run_deliveries', ['id']),
  table('agent_sessions', ['key']),
  table('session_messages', ['position'], LONG_ROWS),
  table('idempotency_keys', ['key'], LONG_ROWS),
  table('notices', ['key'], LONG_ROWS),
  table('notice_channels', ['channel', 'recipient']),
  table('nodes', ['name']),
];

/** Tables that are not copied, each with the reason. */
export const NOT_COPIED: Readonly<Record<string, string>> = {
  changes: 'contains data only for running processes',
  written_batches: 'contains data only for running daemons',
  session_permits: 'contains live sessions; there are none without a daemon',
  live_sessions: 'contains live sessions; there are none without a daemon',
  penalties: 'contains data only for running daemons',
  account_activity: 'contains data only for running daemons',
  logins_text: 'an index of logins, which SQLite maintains',
};

/** One of the two databases, open for a copy. */
export interface CopySide {
  /** The name of the database in messages. */
  readonly where: string;
  /** Runs `work` in one transaction. No other process writes the copied tables until the transaction ends. */
  exclusively<T>(work: (trx: Knex) => Promise<T>): Promise<T>;
  /** Called at the end of the transaction that wrote the tables. */
  finish(trx: Knex): Promise<void>;
  /** Converts a value of the other database for this one. `type`: the type of the column here. */
  toStored(value: unknown, type: string): unknown;
  close(): Promise<void>;
}
