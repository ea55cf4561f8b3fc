// What accounts did: heartbeats, logins, records of sessions. The first tables are in accounts.ts and operators.ts.
import type { Knex } from 'knex';

const INDEX = 'heartbeats_of_game_index';

/** 0006: an index for the newest entries of one game of all accounts. */
export async function heartbeatsOfGame(db: Knex): Promise<void> {
  await db.schema.alterTable('heartbeats', (table) => {
    table.index(['game_id', 'id'], INDEX, { predicate: db.whereNotNull('game_id') });
  });
}

/**
 * 0008: a trigram index of user names and addresses in the login log, so that a search need not read the whole log. Only for SQLite
 * (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). The index contains no copy of the texts.
 */
export async function loginSearch(db: Knex): Promise<void> {
  await db.raw(
    "create virtual table logins_text using fts5(username, client, content='logins', content_rowid='id', tokenize='trigram')",
  );
  await db.raw("insert into logins_text(logins_text) values ('rebuild')");
  await db.raw(
    `create trigger logins_text_added after insert on logins begin
       insert into logins_text(rowid, username, client) values (new.id, new.username, new.client);
     end`,
  );
  // There is no update trigger, because the two columns never change.
  await db.raw(
    `create trigger logins_text_removed after delete on logins begin
       insert into logins_text(logins_text, rowid, username, client)
         values ('delete', old.id, old.username, old.client);
     end`,
  );
}

/**
 * 0031: the records of sessions for traces. Rows are read by time: the sessions of a class last no longer than a limit
 * (tables/session-records.ts), so that those that ran at a time are a short range of each class.
 */
export async function sessionRecords(db: Knex): Promise<void> {
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

/** 0036: the traffic of accounts per day by game and by exit. */
export async function trafficParts(db: Knex): Promise<void> {
  await db.schema.createTable('traffic_parts', (table) => {
    table.string('account_id', 36).notNullable();
    table.integer('day').notNullable();
    // game, exit
    table.string('kind', 8).notNullable();
    table.text('name').notNullable();
    table.bigInteger('bytes_up').notNullable();
    table.bigInteger('bytes_down').notNullable();
    table.primary(['account_id', 'day', 'kind', 'name']);
    table.index(['day']);
  });
  await db.schema.alterTable('traffic_days', (table) => {
    // 1: all its games and exits are in traffic_parts.
    table.integer('has_parts').notNullable().defaultTo(0);
  });
}
