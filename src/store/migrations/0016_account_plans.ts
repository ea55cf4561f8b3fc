// The plan of an account, and the days from its first login to its expiry.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // A name of the setting `accounts.plans`; null: none.
    table.string('plan', 64);
    // null: the account does not wait for its first login.
    table.integer('days_from_first_login');
  });
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table accounts drop column plan');
  await db.raw('alter table accounts drop column days_from_first_login');
}
