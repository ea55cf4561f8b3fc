// The seller of each notice to a player, and the codes by which players confirm addresses.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('notices', (table) => {
    // null: the administrator, or a notice to the operator.
    table.string('owner_id', 36);
  });
  await db.schema.createTable('contact_codes', (table) => {
    table.string('account_id', 36).notNullable().references('id').inTable('accounts').onDelete('CASCADE');
    table.string('channel', 16).notNullable();
    table.string('address', 255).notNullable();
    // SHA-256 of the code, hexadecimal; null: it was used.
    table.string('hash', 64);
    table.bigInteger('sent_at').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.integer('tries').notNullable();
    table.bigInteger('confirmed_at');
    table.primary(['account_id', 'channel']);
    table.index(['channel', 'address']);
  });
}
