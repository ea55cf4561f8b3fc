// Tags of accounts: a JSON array of texts; null is none.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    table.text('tags');
  });
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table accounts drop column tags');
}
