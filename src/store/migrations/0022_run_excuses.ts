// Counts the attempts of a run that do not count against webhooks.maxAttempts: an outage of the database interrupted them.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('runs', (table) => {
    table.integer('excused').notNullable().defaultTo(0);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`, by which knex makes the whole table anew on SQLite.
  await db.schema.raw('alter table runs drop column excused');
}
