// Client addresses that may use an account without credentials. The first and last address of each entry are stored as texts that
// sort like addresses, so that the database can find overlaps.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('authorized_addresses', (table) => {
    table.string('account_id', 36).notNullable().references('id').inTable('accounts').onDelete('CASCADE');
    // In the order of the operator's input.
    table.integer('position').notNullable();
    table.string('network', 49).notNullable();
    table.string('first_address', 33).notNullable();
    table.string('last_address', 33).notNullable();
    table.primary(['account_id', 'position']);
    table.index('last_address');
  });
}
