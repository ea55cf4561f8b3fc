// Console sessions remember what their operator signed in with, and end when it is no longer what holds.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('console_sessions', (table) => {
    // Null: opened by an older version; such a session has ended.
    table.string('credentials', 64);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`, by which knex makes the whole table anew on SQLite.
  await db.schema.raw('alter table console_sessions drop column credentials');
}
