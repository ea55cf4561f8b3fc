// Counts a run's attempts that an outage of the database interrupted. They do not count against webhooks.maxAttempts.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('runs', (table) => {
    table.integer('excused').notNullable().defaultTo(0);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`: on SQLite, knex rebuilds the whole table for it.
  await db.schema.raw('alter table runs drop column excused');
}
