// Shared state of several nodes: the batches that each has written, the permits beyond a lowered limit, and the sources that are
// refused because of failed attempts. Only for PostgreSQL: with SQLite there is one daemon.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
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
