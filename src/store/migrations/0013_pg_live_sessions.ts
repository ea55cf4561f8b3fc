// The live sessions of players, as reported by their nodes. Only for PostgreSQL: with SQLite there is one daemon, which has them in
// memory. The table is unlogged: after a crash of the server the nodes write their sessions again.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`create unlogged table live_sessions (
    id text collate "C" primary key,
    process text collate "C" not null,
    account_id text collate "C" not null,
    username text collate "C" not null,
    client text collate "C" not null,
    host text collate "C" not null,
    address text collate "C" not null,
    protocol text collate "C" not null,
    game_id text collate "C",
    opened_at bigint not null,
    bytes_up bigint not null,
    bytes_down bigint not null,
    rate_up double precision not null,
    rate_down double precision not null,
    facts jsonb not null
  ) with (fillfactor = 80)`);
  await db.raw('create index live_sessions_account_id_index on live_sessions (account_id)');
  await db.raw('create index live_sessions_process_index on live_sessions (process)');
}
