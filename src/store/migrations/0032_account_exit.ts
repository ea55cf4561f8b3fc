// The exit of an account.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // Its name; null: the default one, or none.
    table.string('exit', 64);
  });
}

export async function down(db: Knex): Promise<void> {
  await db.schema.raw('alter table accounts drop column exit');
}
