// Every migration, in order. To add one:
//  1. Write NNNN_<what>.ts beside this file with `up` and `down`, with knex's schema builder, or for one database only.
//  2. Append it to the list below with the same name. Never rename, reorder or change a released migration.
//  3. List a new table in ../copied-tables.ts.
// A migration only adds: an older version must still find every column that it knows, so columns are never dropped.
import type { Knex } from 'knex';
import * as accounts from './0001_accounts.js';
import * as runs from './0002_runs.js';
import * as operator from './0003_operator.js';
import * as limits from './0004_limits.js';
import * as notices from './0005_notices.js';
import * as heartbeatsOfGame from './0006_heartbeats_of_game.js';
import * as sessionCredentials from './0007_session_credentials.js';
import * as loginSearch from './0008_login_search.js';
import * as importEntries from './0009_import_entries.js';
import * as pgChanges from './0010_pg_changes.js';
import * as nodes from './0011_nodes.js';
import * as accountTags from './0012_account_tags.js';
import * as pgLiveSessions from './0013_pg_live_sessions.js';
import * as authorizedAddresses from './0014_authorized_addresses.js';
import * as runCancel from './0015_run_cancel.js';
import * as accountPlans from './0016_account_plans.js';
import * as pgAccountActivity from './0017_pg_account_activity.js';
import * as pgSessionPermits from './0018_pg_session_permits.js';
import * as operators from './0019_operators.js';
import * as playerLinks from './0020_player_links.js';
import * as passwordVersions from './0021_password_versions.js';
import * as runExcuses from './0022_run_excuses.js';
import * as sellers from './0023_sellers.js';
import * as noticeMessages from './0024_notice_messages.js';
import * as allowedClients from './0025_allowed_clients.js';
import * as pgFleet from './0026_pg_fleet.js';
import * as accountSchedules from './0027_account_schedules.js';
import * as noticeChannels from './0028_notice_channels.js';
import * as sessionConfirmation from './0029_session_confirmation.js';
import * as sellerMessages from './0030_seller_messages.js';
import * as sessionRecords from './0031_session_records.js';
import * as accountExit from './0032_account_exit.js';

/** One step of the schema. `down` undoes exactly what `up` did. */
export interface Migration {
  readonly name: string;
  /** The database of the migration. On the other it is recorded without effect. Undefined: both. */
  readonly kind?: 'sqlite3' | 'pg';
  up(db: Knex): Promise<void>;
  down(db: Knex): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: '0001_accounts', ...accounts },
  { name: '0002_runs', ...runs },
  { name: '0003_operator', ...operator },
  { name: '0004_limits', ...limits },
  { name: '0005_notices', ...notices },
  { name: '0006_heartbeats_of_game', ...heartbeatsOfGame },
  { name: '0007_session_credentials', ...sessionCredentials },
  { name: '0008_login_search', kind: 'sqlite3', ...loginSearch },
  { name: '0009_import_entries', ...importEntries },
  { name: '0010_pg_changes', kind: 'pg', ...pgChanges },
  { name: '0011_nodes', ...nodes },
  { name: '0012_account_tags', ...accountTags },
  { name: '0013_pg_live_sessions', kind: 'pg', ...pgLiveSessions },
  { name: '0014_authorized_addresses', ...authorizedAddresses },
  { name: '0015_run_cancel', ...runCancel },
  { name: '0016_account_plans', ...accountPlans },
  { name: '0017_pg_account_activity', kind: 'pg', ...pgAccountActivity },
  { name: '0018_pg_session_permits', kind: 'pg', ...pgSessionPermits },
  { name: '0019_operators', ...operators },
  { name: '0020_player_links', ...playerLinks },
  { name: '0021_password_versions', ...passwordVersions },
  { name: '0022_run_excuses', ...runExcuses },
  { name: '0023_sellers', ...sellers },
  { name: '0024_notice_messages', ...noticeMessages },
  { name: '0025_allowed_clients', ...allowedClients },
  { name: '0026_pg_fleet', kind: 'pg', ...pgFleet },
  { name: '0027_account_schedules', ...accountSchedules },
  { name: '0028_notice_channels', ...noticeChannels },
  { name: '0029_session_confirmation', ...sessionConfirmation },
  { name: '0030_seller_messages', ...sellerMessages },
  { name: '0031_session_records', ...sessionRecords },
  { name: '0032_account_exit', ...accountExit },
];
