// When the user of a console session last gave the password or a one-time code.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('console_sessions', (table) => {
    // Null: at the sign-in.
    table.bigInteger('confirmed_at');
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`: on SQLite, knex rebuilds the whole table for it.
  await db.schema.raw('alter table console_sessions drop column confirmed_at');
}
