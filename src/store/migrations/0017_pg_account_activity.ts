// The recent activity of accounts, which the other nodes read. Only for PostgreSQL. The table is unlogged: after a crash of the server
// every node reloads the tables to which the activity refers.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`create unlogged table account_activity (
    seq bigserial primary key,
    xact xid8 not null default pg_current_xact_id(),
    origin text collate "C" not null,
    at bigint not null,
    account_id text collate "C" not null,
    kind text collate "C" not null,
    day integer,
    bytes_up bigint,
    bytes_down bigint,
    login_at bigint
  )`);
  await db.raw('create index account_activity_xact_index on account_activity (xact)');
  await db.raw('create index account_activity_at_index on account_activity (at)');
}
