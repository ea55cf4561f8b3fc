// The owner of each account, and the budgets of sellers.
import type { Knex } from 'knex';

/** In each column, null means no bound. */
const BUDGET = ['budget_accounts', 'budget_days', 'budget_bytes'];
const USED = ['used_accounts', 'used_ms', 'used_bytes'];

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('accounts', (table) => {
    // Id of an operator; null: the administrator.
    table.string('owner', 36).index();
  });
  await db.schema.alterTable('operators', (table) => {
    for (const column of BUDGET) table.bigInteger(column);
    for (const column of USED) table.bigInteger(column).notNullable().defaultTo(0);
  });
}
