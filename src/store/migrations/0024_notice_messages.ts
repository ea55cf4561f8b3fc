// Notices by channel and recipient, with their state and the receiver's last answer. Also the contacts of accounts.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('notices', (table) => {
    table.string('channel', 16).notNullable().defaultTo('webhook');
    // 'operator' or 'player'.
    table.string('recipient', 16).notNullable().defaultTo('operator');
    table.string('account_id', 36);
    table.string('state', 16).notNullable().defaultTo('delivered');
    // The time when the notice is due. An older version reads only `next_at`, and so ignores these rows.
    table.bigInteger('due_at');
    table.bigInteger('tried_at');
    table.text('detail');
    // The row keeps its key until this time, so that the same event is not announced again.
    table.bigInteger('keep_until').notNullable().defaultTo(0);
    table.index(['channel', 'due_at']);
    table.index(['channel', 'tried_at']);
    table.index(['id']);
  });
  await db.schema.alterTable('accounts', (table) => {
    // A JSON object; null: no contacts.
    table.text('contacts');
  });
  await db('notices')
    .whereNotNull('next_at')
    .update({ due_at: db.ref('next_at'), next_at: null, state: 'pending' });
}
