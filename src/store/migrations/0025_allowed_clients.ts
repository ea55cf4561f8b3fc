// The client addresses and networks from which an account may log in.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // A JSON array; null: every client.
    table.text('allowed_clients');
  });
}

export async function down(db: Knex): Promise<void> {
  await db.schema.raw('alter table accounts drop column allowed_clients');
}
