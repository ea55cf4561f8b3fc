// The limits of accounts. Their usage is in traffic_days (migration 0003).
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('account_limits', (table) => {
    table.string('account_id', 36).primary().references('id').inTable('accounts');
    table.bigInteger('max_sessions');
    table.bigInteger('max_client_addresses');
    table.bigInteger('bytes_per_second_up');
    table.bigInteger('bytes_per_second_down');
    table.bigInteger('quota_bytes');
    table.string('quota_period', 8).notNullable();
    table.string('egress_class', 64);
    table.bigInteger('reset_at');
    // The total traffic of the account at the last reset.
    table.bigInteger('reset_total_bytes').notNullable();
  });
}
