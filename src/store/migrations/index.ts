// Every migration, in order. To add one:
//  1. Append it to the list below. What is more than new columns is a function in the file of its topic beside this one, with
//     knex's schema builder, or for one database only.
//  2. Never rename, reorder or change a released migration.
//  3. List a new table in ../copied-tables.ts.
// A migration only adds: an older version must still find every column that it knows, so columns are never dropped. Nothing undoes
// a migration: who goes back to an older version restores a backup made before it.
import type { Knex } from 'knex';
import * as accounts from './accounts.js';
import * as activity from './activity.js';
import * as agents from './agents.js';
import * as fleet from './fleet.js';
import * as notices from './notices.js';
import * as operators from './operators.js';

/** One step of the schema. */
export interface Migration {
  readonly name: string;
  /** The database of the migration. On the other it is recorded without effect. Undefined: both. */
  readonly kind?: 'sqlite3' | 'pg';
  up(db: Knex): Promise<void>;
}

type Column = (table: Knex.AlterTableBuilder, name: string) => unknown;
const text: Column = (table, name) => table.text(name);
const string =
  (length: number): Column =>
  (table, name) =>
    table.string(name, length);
const integer: Column = (table, name) => table.integer(name);
const bigInteger: Column = (table, name) => table.bigInteger(name);
const count: Column = (table, name) => table.integer(name).notNullable().defaultTo(0);

const columns = (name: string, table: string, added: Readonly<Record<string, Column>>): Migration => ({
  name,
  async up(db) {
    await db.schema.alterTable(table, (altered) => {
      for (const [column, add] of Object.entries(added)) add(altered, column);
    });
  },
});

export const migrations: readonly Migration[] = [
  { name: '0001_accounts', up: accounts.first },
  { name: '0002_runs', up: agents.runs },
  { name: '0003_operator', up: operators.first },
  { name: '0004_limits', up: accounts.limits },
  { name: '0005_notices', up: notices.first },
  { name: '0006_heartbeats_of_game', up: activity.heartbeatsOfGame },
  // The fingerprint of the credentials of console sessions. A session ends when they change, or when an older
  // version opened it (null).
  columns('0007_session_credentials', 'console_sessions', { credentials: string(64) }),
  { name: '0008_login_search', kind: 'sqlite3', up: activity.loginSearch },
  { name: '0009_import_entries', up: operators.importEntries },
  { name: '0010_pg_changes', kind: 'pg', up: fleet.changes },
  { name: '0011_nodes', up: fleet.nodes },
  // Tags of accounts: a JSON array of texts; null is none.
  columns('0012_account_tags', 'accounts', { tags: text }),
  { name: '0013_pg_live_sessions', kind: 'pg', up: fleet.liveSessions },
  { name: '0014_authorized_addresses', up: accounts.authorizedAddresses },
  // The request of another daemon to cancel a running run; null: no request.
  columns('0015_run_cancel', 'runs', { cancel_requested_at: bigInteger }),
  // The plan of an account, and the days from its first login to its expiry. Null: none; the account does
  // not wait for its first login.
  columns('0016_account_plans', 'accounts', { plan: string(64), days_from_first_login: integer }),
  { name: '0017_pg_account_activity', kind: 'pg', up: fleet.accountActivity },
  { name: '0018_pg_session_permits', kind: 'pg', up: fleet.sessionPermits },
  { name: '0019_operators', up: operators.operators },
  { name: '0020_player_links', up: accounts.playerLinks },
  // Counts the changes of an account's password, so that daemons can tell a new password from a new hash of the same password.
  columns('0021_password_versions', 'accounts', { password_version: count }),
  // Counts a run's attempts that an outage of the database interrupted. They do not count against webhooks.maxAttempts.
  columns('0022_run_excuses', 'runs', { excused: count }),
  { name: '0023_sellers', up: operators.sellers },
  { name: '0024_notice_messages', up: notices.messages },
  // The client addresses and networks from which an account may log in: a JSON array; null: every client.
  columns('0025_allowed_clients', 'accounts', { allowed_clients: text }),
  { name: '0026_pg_fleet', kind: 'pg', up: fleet.sharedState },
  // The days and hours at which an account may be used, such as "mon-fri 08:00-23:00"; null: always.
  columns('0027_account_schedules', 'accounts', { schedule: string(255) }),
  { name: '0028_notice_channels', up: notices.channels },
  // When the user of a console session last gave the password or a one-time code; null: at the sign-in.
  columns('0029_session_confirmation', 'console_sessions', { confirmed_at: bigInteger }),
  { name: '0030_seller_messages', up: notices.sellers },
  { name: '0031_session_records', up: activity.sessionRecords },
  // The name of an account's exit; null: the default one, or none.
  columns('0032_account_exit', 'accounts', { exit: string(64) }),
  // Limits of the guard; null: as the egress class or the configuration says.
  columns('0033_guard_limits', 'account_limits', {
    connections_per_minute: integer,
    destinations_per_minute: integer,
    lookups_per_minute: integer,
  }),
  // Until when an account is suspended, and why; null: it was never, or the suspension was lifted.
  columns('0034_account_suspension', 'accounts', { suspended_until: bigInteger, suspend_reason: text }),
  { name: '0035_account_links', up: accounts.links },
  { name: '0036_traffic_parts', up: activity.trafficParts },
  // As 0033.
  columns('0037_more_guard_limits', 'account_limits', {
    connections_per_second: integer,
    udp_destinations_per_second: integer,
    failed_connections_per_minute: integer,
    max_connections: integer,
  }),
  // The time from the request to the connection, in ms; null: unknown, and of associations.
  columns('0038_record_connect_time', 'session_records', { connect_ms: integer }),
  { name: '0039_pg_receivers', kind: 'pg', up: notices.widerRecipients },
  { name: '0040_events', up: notices.events },
];
