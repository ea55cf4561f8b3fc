// The fingerprint of the credentials of console sessions. A session ends when the credentials change.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('console_sessions', (table) => {
    // Null: opened by an older version; such a session is no longer valid.
    table.string('credentials', 64);
  });
}

export async function down(db: Knex): Promise<void> {
  // Not `dropColumn`: on SQLite, knex rebuilds the whole table for it.
  await db.schema.raw('alter table console_sessions drop column credentials');
}
