// The request of another daemon to cancel a running run.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('runs', (table) => {
    // Null: no request.
    table.bigInteger('cancel_requested_at');
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`: on SQLite, knex rebuilds the whole table for it.
  await db.schema.raw('alter table runs drop column cancel_requested_at');
}
