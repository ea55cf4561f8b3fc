// The channels of notices that are switched on, each since when, and up to when its digest reaches.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('notice_channels', (table) => {
    table.string('channel', 16).notNullable();
    table.string('recipient', 16).notNullable();
    table.bigInteger('since').notNullable();
    table.bigInteger('digested_at').notNullable();
    table.primary(['channel', 'recipient']);
  });
}
