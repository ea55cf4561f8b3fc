// Permits: the open sessions of accounts with maxSessions or maxClientAddresses. They make these limits exact over all nodes. Only
// PostgreSQL has this table: with SQLite there is one daemon, which counts in memory. A function in the database decides, so that a
// frozen client cannot hold the lock of an account, and a login needs one round trip.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
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
