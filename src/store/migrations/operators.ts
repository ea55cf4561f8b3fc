// The tables of the admin API and of operators.
import type { Knex } from 'knex';

/** 0003: the tables of the admin API: console sessions, API tokens, audit log, login log, traffic, and the history of charts. */
export async function first(db: Knex): Promise<void> {
  await db.schema.createTable('console_sessions', (table) => {
    table.string('hash', 64).primary();
    table.string('username', 255).notNullable();
    table.string('address', 64).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('used_at').notNullable();
  });

  await db.schema.createTable('api_tokens', (table) => {
    table.string('id', 36).primary();
    table.string('name', 100).notNullable();
    table.string('prefix', 16).notNullable();
    table.string('hash', 64).notNullable().unique();
    table.text('scopes').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at');
    table.bigInteger('last_used_at');
    table.string('last_used_from', 64);
  });

  await db.schema.createTable('audit', (table) => {
    table.string('id', 36).primary();
    table.bigInteger('at').notNullable().index();
    table.string('actor', 255).notNullable();
    table.string('via', 16).notNullable();
    table.string('address', 64);
    table.string('action', 64).notNullable();
    table.string('object_type', 16).notNullable();
    table.string('object_id', 255);
    table.text('object_name');
    table.text('before');
    table.text('after');
    table.index(['object_id', 'id']);
  });

  await db.schema.createTable('logins', (table) => {
    // Order of arrival; used only in the store.
    table.bigIncrements('id');
    table.bigInteger('at').notNullable().index();
    // Not a foreign key: entries stay when the account is deleted.
    table.string('account_id', 36);
    table.text('username').notNullable();
    table.string('client', 64).notNullable();
    table.string('outcome', 32).notNullable();
    table.bigInteger('times').notNullable();
    table.index(['account_id', 'id']);
  });

  await db.schema.createTable('traffic_days', (table) => {
    table.string('account_id', 36).notNullable();
    // Days since the epoch, UTC.
    table.integer('day').notNullable();
    table.bigInteger('bytes_up').notNullable();
    table.bigInteger('bytes_down').notNullable();
    table.bigInteger('sessions').notNullable();
    table.primary(['account_id', 'day']);
    table.index(['day']);
  });

  await db.schema.createTable('samples', (table) => {
    // minute, hour, day, month
    table.string('step', 8).notNullable();
    table.bigInteger('at').notNullable();
    table.bigInteger('measured').notNullable();
    for (const column of SAMPLE_COLUMNS) table.double(column).notNullable();
    table.primary(['step', 'at']);
  });

  await db.schema.createTable('heartbeat_sums', (table) => {
    table.integer('step_seconds').notNullable();
    table.bigInteger('at').notNullable();
    table.string('account_id', 36).notNullable();
    // Empty: no GameID.
    table.text('game_id').notNullable();
    table.bigInteger('count').notNullable();
    table.bigInteger('bytes_up').notNullable();
    table.bigInteger('bytes_down').notNullable();
    table.primary(['step_seconds', 'at', 'account_id', 'game_id']);
  });
}

const SAMPLE_COLUMNS = [
  'sessions',
  'players_online',
  'bytes_up',
  'bytes_down',
  'logins',
  'failures',
  'heartbeats',
  'runs',
];

/** 0009: one audit entry per import. The entries of its changes of accounts refer to it. */
export async function importEntries(db: Knex): Promise<void> {
  await db.schema.alterTable('audit', (table) => {
    // Id of the entry of the import; null: not part of an import.
    table.string('import_id', 36);
    table.index(['import_id', 'id']);
  });
}

/** In each table, null means the administrator. */
const OF_OPERATORS = ['console_sessions', 'api_tokens', 'audit'];

/** 0019: operators besides the administrator, and whose console sessions, tokens and audit entries are. */
export async function operators(db: Knex): Promise<void> {
  await db.schema.createTable('operators', (table) => {
    table.string('id', 36).primary();
    table.string('name', 255).notNullable().unique();
    table.string('password_hash', 128).notNullable();
    table.string('role', 16).notNullable();
    table.boolean('is_enabled').notNullable();
    table.bigInteger('created_at').notNullable();
  });
  for (const name of OF_OPERATORS) {
    await db.schema.alterTable(name, (table) => {
      table.string('operator_id', 36);
    });
  }
  await db.schema.alterTable('audit', (table) => {
    table.index(['operator_id', 'id']);
  });
}

/** In each column, null means no bound. */
const BUDGET = ['budget_accounts', 'budget_days', 'budget_bytes'];
const USED = ['used_accounts', 'used_ms', 'used_bytes'];

/** 0023: the owner of each account, and the budgets of sellers. */
export async function sellers(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // Id of an operator; null: the administrator.
    table.string('owner', 36).index();
  });
  await db.schema.alterTable('operators', (table) => {
    for (const column of BUDGET) table.bigInteger(column);
    for (const column of USED) table.bigInteger(column).notNullable().defaultTo(0);
  });
}
