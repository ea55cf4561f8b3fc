// What several daemons on one database share.
import type { Knex } from 'knex';

/** 0010: the transaction of each change, so that readers find changes that were committed late. Only for PostgreSQL. */
export async function changes(db: Knex): Promise<void> {
  await db.raw('alter table changes add column xact xid8 not null default pg_current_xact_id()');
  await db.raw('create index changes_xact_index on changes (xact)');
}

/** 0011: the nodes of the service: daemons that use this database, each with a lease that it renews. On SQLite there is one. */
export async function nodes(db: Knex): Promise<void> {
  await db.schema.createTable('nodes', (table) => {
    table.string('name', 253).primary();
    // GUID of the data folder: a restarted daemon acquires its own row immediately.
    table.string('owner', 36).notNullable();
    // GUID of the process.
    table.string('process', 36).notNullable();
    table.string('version', 40).notNullable();
    // JSON.
    table.text('addresses').notNullable();
    table.text('load').notNullable();
    // Milliseconds since the epoch, by the database's clock.
    table.bigInteger('started_at').notNullable();
    table.bigInteger('renewed_at').notNullable();
    // null: it was stopped regularly.
    table.bigInteger('lease_until');
    // null: it accepts connections.
    table.bigInteger('drained_at');
  });
}

/**
 * 0013: the live sessions of players, as reported by their nodes. Only for PostgreSQL: with SQLite there is one daemon, which has them
 * in memory. The table is unlogged: after a crash of the server the nodes write their sessions again.
 */
export async function liveSessions(db: Knex): Promise<void> {
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

/**
 * 0017: the recent activity of accounts, which the other nodes read. Only for PostgreSQL. The table is unlogged: after a crash of the
 * server every node reloads the tables to which the activity refers.
 */
export async function accountActivity(db: Knex): Promise<void> {
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

/**
 * 0018: permits: the open sessions of accounts with maxSessions or maxClientAddresses. They make these limits exact over all nodes.
 * Only PostgreSQL has this table: with SQLite there is one daemon, which counts in memory. A function in the database decides, so that
 * a frozen client cannot hold the lock of an account, and a login needs one round trip.
 */
export async function sessionPermits(db: Knex): Promise<void> {
  await db.raw(`create table session_permits (
    id text collate "C" primary key,
    process text collate "C" not null,
    account_id text collate "C" not null,
    client text collate "C" not null
  )`);
  await db.raw('create index session_permits_account_id_index on session_permits (account_id)');
  await db.raw('create index session_permits_process_index on session_permits (process)');
  // 730580887: the class of the advisory locks of accounts. All processes lock accounts in the same order. No commit waits for the
  // disk: after a crash of the server, the nodes write the lost permits again.
  await db.raw(`create function exchange_session_permits(
    my_process text, my_lease_ms bigint, ended jsonb, held jsonb, wanted jsonb
  ) returns table (refused_id text, refusal text) language plpgsql as $$
  declare
    each record;
    now_ms bigint := extract(epoch from clock_timestamp()) * 1000;
    session_count bigint;
    client_count bigint;
    has_client boolean;
  begin
    perform set_config('synchronous_commit', 'off', true);
    -- Its permits count for the others only while its lease lasts.
    update nodes set lease_until = now_ms + my_lease_ms where process = my_process and lease_until < now_ms;
    delete from session_permits where id in (select jsonb_array_elements_text(ended));
    insert into session_permits (id, process, account_id, client)
      select row.id, my_process, row.account_id, row.client
      from jsonb_to_recordset(held) as row (id text, account_id text, client text)
      on conflict (id) do nothing;
    for each in
      select row.* from jsonb_to_recordset(wanted)
        as row (n bigint, id text, account_id text, client text, max_sessions bigint, max_clients bigint)
      order by hashtext(row.account_id), row.n
    loop
      perform pg_advisory_xact_lock(730580887, hashtext(each.account_id));
      now_ms := extract(epoch from clock_timestamp()) * 1000;
      select count(*), count(distinct permit.client), coalesce(bool_or(permit.client = each.client), false)
        into session_count, client_count, has_client
        from session_permits as permit join nodes as node on node.process = permit.process
        where permit.account_id = each.account_id and node.lease_until >= now_ms;
      refused_id := each.id;
      if session_count >= each.max_sessions then
        refusal := 'too-many-sessions';
        return next;
      elsif session_count > 0 and not has_client and client_count >= each.max_clients then
        refusal := 'too-many-addresses';
        return next;
      else
        insert into session_permits (id, process, account_id, client)
          values (each.id, my_process, each.account_id, each.client) on conflict (id) do nothing;
      end if;
    end loop;
  end
  $$`);
}

/**
 * 0026: shared state of several nodes: the batches that each has written, the permits beyond a lowered limit, and the sources that are
 * refused because of failed attempts. Only for PostgreSQL: with SQLite there is one daemon.
 */
export async function sharedState(db: Knex): Promise<void> {
  await db.raw(`create table written_batches (
    process text collate "C" not null,
    kind text collate "C" not null,
    number bigint not null,
    written_at bigint not null,
    primary key (process, kind)
  )`);
  await db.raw(`create table penalties (
    key text collate "C" primary key,
    ends_at bigint not null
  )`);
  await db.raw('create index penalties_ends_at_index on penalties (ends_at)');
  // The order in which permits were written.
  await db.raw('alter table session_permits add column seq bigserial');
  // Under the same lock as exchange_session_permits (migration 0018).
  await db.raw(`create function surplus_session_permits(my_account text, max_sessions bigint, max_clients bigint)
  returns table (surplus_id text, surplus_process text) language plpgsql as $$
  declare
    each record;
    session_count bigint := 0;
    clients text[] := '{}';
  begin
    perform pg_advisory_xact_lock(730580887, hashtext(my_account));
    for each in
      select permit.id, permit.process, permit.client
      from session_permits as permit join nodes as node on node.process = permit.process
      where permit.account_id = my_account and node.lease_until >= extract(epoch from clock_timestamp()) * 1000
      order by permit.seq
    loop
      if session_count >= max_sessions
        or (not each.client = any(clients) and cardinality(clients) >= max_clients) then
        surplus_id := each.id;
        surplus_process := each.process;
        return next;
      else
        session_count := session_count + 1;
        if not each.client = any(clients) then
          clients := clients || each.client;
        end if;
      end if;
    end loop;
  end
  $$`);
}
