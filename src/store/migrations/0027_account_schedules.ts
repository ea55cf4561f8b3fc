// The days and hours at which an account may be used.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // Such as "mon-fri 08:00-23:00"; null: always.
    table.string('schedule', 255);
  });
}

export async function down(db: Knex): Promise<void> {
  await db.schema.raw('alter table accounts drop column schedule');
}
