// Notices: the waiting ones, and the keys of the sent ones.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('notices', (table) => {
    table.string('key', 255).primary();
    table.string('id', 36).notNullable();
    table.string('type', 32).notNullable();
    table.bigInteger('at').notNullable().index();
    table.text('data').notNullable();
    table.integer('tries').notNullable();
    // null: delivered or given up.
    table.bigInteger('next_at').index();
  });
}
