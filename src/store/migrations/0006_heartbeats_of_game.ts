// An index for the newest entries of one game of all accounts.
import type { Knex } from 'knex';

const INDEX = 'heartbeats_of_game_index';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('heartbeats', (table) => {
    table.index(['game_id', 'id'], INDEX, { predicate: db.whereNotNull('game_id') });
  });
}
