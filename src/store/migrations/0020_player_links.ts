// The secret addresses of players: one of each kind per account.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('player_links', (table) => {
    table.string('account_id', 36).notNullable().references('id').inTable('accounts').onDelete('CASCADE');
    table.string('kind', 8).notNullable();
    // SHA-256 of the token, hexadecimal.
    table.string('hash', 64).notNullable().unique();
    // Only for kinds that the console shows again.
    table.string('token', 32);
    table.bigInteger('created_at').notNullable();
    table.primary(['account_id', 'kind']);
  });
}
