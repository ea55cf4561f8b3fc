// The first tables: accounts, their heartbeat data and totals, settings, and the change log.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('accounts', (table) => {
    // Insertion order among accounts created in the same millisecond; used only in the store.
    table.bigIncrements('position');
    table.string('id', 36).notNullable().unique();
    table.string('username', 255).notNullable().unique();
    table.string('password_hash', 255).notNullable();
    table.boolean('is_enabled').notNullable();
    table.text('remarks');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('last_login_at');
    table.bigInteger('expires_at');
    table.index(['created_at', 'position']);
  });

  await db.schema.createTable('heartbeats', (table) => {
    // Order of arrival; used only in the store.
    table.bigIncrements('id');
    table.bigInteger('at').notNullable();
    // No cascade: the account's rows are deleted explicitly before it, in the same transaction. A missing delete must fail.
    table.string('account_id', 36).notNullable().references('id').inTable('accounts');
    table.string('username', 255).notNullable();
    table.string('session_id', 36).notNullable();
    table.string('client', 64).notNullable();
    table.text('destination').notNullable();
    table.string('protocol', 8).notNullable();
    table.bigInteger('bytes_up').notNullable();
    table.bigInteger('bytes_down').notNullable();
    table.string('kind', 8).notNullable();
    table.text('game_id');
    table.index(['account_id', 'id']);
    table.index(['at']);
    // Finds the newest entry with a GameID without reading entries that have none.
    table.index(['account_id', 'id'], 'heartbeats_game_index', { predicate: db.whereNotNull('game_id') });
  });

  await db.schema.createTable('heartbeat_totals', (table) => {
    table.string('account_id', 36).primary().references('id').inTable('accounts');
    table.bigInteger('count').notNullable();
    table.text('latest_game_id');
  });

  await db.schema.createTable('settings', (table) => {
    table.string('key', 128).primary();
    table.text('value').notNullable();
  });

  await db.schema.createTable('changes', (table) => {
    table.bigIncrements('seq');
    table.string('topic', 32).notNullable();
    table.string('key', 128).notNullable();
    table.string('origin', 36).notNullable();
    table.bigInteger('at').notNullable().index();
  });
}
