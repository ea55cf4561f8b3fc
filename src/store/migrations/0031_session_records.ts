// The records of sessions for traces. Rows are read by time: the sessions of a class last no longer than a limit
// (tables/session-records.ts), so that those that ran at a time are a short range of each class.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('session_records', (table) => {
    table.bigIncrements('id');
    // The class of its duration.
    table.smallint('span').notNullable();
    table.bigInteger('started_at').notNullable();
    // null: it runs.
    table.bigInteger('ended_at');
    // Not a foreign key: records remain when the account is removed. null: a gap, in which records were dropped.
    table.string('account_id', 36);
    table.text('username').notNullable();
    table.string('session', 36).notNullable();
    table.string('node', 253).notNullable();
    table.string('client', 64).notNullable();
    // Sortable addresses; '': unknown.
    table.string('outgoing', 33).notNullable();
    table.integer('outgoing_port').notNullable();
    table.text('exit');
    // '': the address is all that the client asked for.
    table.text('host').notNullable();
    table.string('address', 33).notNullable();
    table.integer('port').notNullable();
    table.string('protocol', 3).notNullable();
    // null: unknown. Of a gap, bytes_up is the number of dropped records.
    table.bigInteger('bytes_up');
    table.bigInteger('bytes_down');
    // The end too: rows that had ended before are skipped without reading them.
    table.index(['span', 'started_at', 'ended_at']);
  });
  await db.raw('create index session_records_running on session_records (session) where ended_at is null');
}
