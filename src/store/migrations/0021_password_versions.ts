// Counts the changes of an account's password, so that daemons can tell a new password from a new hash of the same password.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    table.integer('password_version').notNullable().defaultTo(0);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`: on SQLite, knex rebuilds the whole table for it.
  await db.schema.raw('alter table accounts drop column password_version');
}
