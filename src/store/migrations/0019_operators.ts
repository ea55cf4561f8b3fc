// Operators besides the administrator, and the owner of console sessions, tokens and audit entries.
import type { Knex } from 'knex';

/** In each table, null means the administrator. */
const OWNED = ['console_sessions', 'api_tokens', 'audit'];

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('operators', (table) => {
    table.string('id', 36).primary();
    table.string('name', 255).notNullable().unique();
    table.string('password_hash', 128).notNullable();
    table.string('role', 16).notNullable();
    table.boolean('is_enabled').notNullable();
    table.bigInteger('created_at').notNullable();
  });
  for (const name of OWNED) {
    await db.schema.alterTable(name, (table) => {
      table.string('operator_id', 36);
    });
  }
  await db.schema.alterTable('audit', (table) => {
    table.index(['operator_id', 'id']);
  });
}
