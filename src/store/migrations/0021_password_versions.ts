// Counts the changes of an account's password, so that daemons tell a new password from another hash of the same one.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    table.integer('password_version').notNullable().defaultTo(0);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`, by which knex makes the whole table anew on SQLite.
  await db.schema.raw('alter table accounts drop column password_version');
}
