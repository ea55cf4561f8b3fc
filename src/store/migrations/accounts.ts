// The tables of accounts.
import type { Knex } from 'knex';

/** 0001: the first tables: accounts, their heartbeat data and totals, settings, and the change log. */
export async function first(db: Knex): Promise<void> {
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

/** 0004: the limits of accounts. Their usage is in traffic_days (migration 0003). */
export async function limits(db: Knex): Promise<void> {
  await db.schema.createTable('account_limits', (table) => {
    table.string('account_id', 36).primary().references('id').inTable('accounts');
    table.bigInteger('max_sessions');
    table.bigInteger('max_client_addresses');
    table.bigInteger('bytes_per_second_up');
    table.bigInteger('bytes_per_second_down');
    table.bigInteger('quota_bytes');
    table.string('quota_period', 8).notNullable();
    table.string('egress_class', 64);
    table.bigInteger('reset_at');
    // The total traffic of the account at the last reset.
    table.bigInteger('reset_total_bytes').notNullable();
  });
}

/**
 * 0014: client addresses that may use an account without credentials. The first and last address of each entry are stored as texts
 * that sort like addresses, so that the database can find overlaps.
 */
export async function authorizedAddresses(db: Knex): Promise<void> {
  await db.schema.createTable('authorized_addresses', (table) => {
    table.string('account_id', 36).notNullable().references('id').inTable('accounts').onDelete('CASCADE');
    // In the order of the operator's input.
    table.integer('position').notNullable();
    table.string('network', 49).notNullable();
    table.string('first_address', 33).notNullable();
    table.string('last_address', 33).notNullable();
    table.primary(['account_id', 'position']);
    table.index('last_address');
  });
}

/** 0035: the link of an account's subscription: the hash of its password, and its time; null: the account has none. */
export async function links(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // Not unique: a copy of an account, made by an import, may have the same.
    table.string('link_hash', 255).index();
    table.bigInteger('link_created_at');
  });
}

/** 0020: the secret addresses of players: one of each kind per account. */
export async function playerLinks(db: Knex): Promise<void> {
  await db.schema.createTable('player_links', (table) => {
    table.string('account_id', 36).notNullable().references('id').inTable('accounts').onDelete('CASCADE');
    table.string('kind', 8).notNullable();
    // SHA-256 of the token, hexadecimal.
    table.string('hash', 64).notNullable().unique();
    // Only for kinds that the console shows again.
    table.string('token', 32);
    table.bigInteger('created_at').notNullable();
    table.primary(['account_id', 'kind']);
  });
}
