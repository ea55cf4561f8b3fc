// A run may be cancelled by way of another daemon than the one that has it under way.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('runs', (table) => {
    // Null: it may go on.
    table.bigInteger('cancel_requested_at');
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`, by which knex makes the whole table anew on SQLite.
  await db.schema.raw('alter table runs drop column cancel_requested_at');
}
