// The tables of notices.
import type { Knex } from 'knex';

/** 0005: notices: the waiting ones, and the keys of the sent ones. */
export async function first(db: Knex): Promise<void> {
  await db.schema.createTable('notices', (table) => {
    table.string('key', 255).primary();
    table.string('id', 36).notNullable();
    table.string('type', 32).notNullable();
    table.bigInteger('at').notNullable().index();
    table.text('data').notNullable();
    table.integer('tries').notNullable();
    // null: delivered or given up.
    table.bigInteger('next_at').index();
  });
}

/** 0024: notices by channel and recipient, with their state and the receiver's last answer. Also the contacts of accounts. */
export async function messages(db: Knex): Promise<void> {
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

/** 0028: the channels of notices that are switched on, each since when, and up to when its digest reaches. */
export async function channels(db: Knex): Promise<void> {
  await db.schema.createTable('notice_channels', (table) => {
    table.string('channel', 16).notNullable();
    table.string('recipient', 16).notNullable();
    table.bigInteger('since').notNullable();
    table.bigInteger('digested_at').notNullable();
    table.primary(['channel', 'recipient']);
  });
}

/** 0030: the seller of each notice to a player, and the codes by which players confirm addresses. */
export async function sellers(db: Knex): Promise<void> {
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

/** 0039: ids as recipients. SQLite bounds no texts. */
export const widerRecipients = (db: Knex): Promise<void> =>
  db.raw('alter table notices alter column recipient type varchar(36)');

/** What the channel `webhook` was sent: accounts one by one in place of the digest. */
const WEBHOOK_TYPES = [
  'account.expiring',
  'account.expired',
  'account.quota',
  'account.limited',
  'account.suspended',
  'logins.failing',
  'run.failed',
  'node.lost',
  'certificate.expiring',
  'token.create',
  'operator.create',
  'operator.update',
  'admin.password',
  'admin.username',
  'admin.totp-on',
  'admin.totp-off',
  'admin.recovery-codes',
  'admin.recovery-code-used',
  'backup.download',
];

/**
 * 0040: events, which are notices to receivers; the entries of the audit log that become events; the attempts of each notice. The
 * channel `webhook` of an operator becomes a receiver, with what waits in it.
 */
export async function events(db: Knex): Promise<void> {
  await db.schema.alterTable('notices', (table) => {
    table.integer('tries_before').notNullable().defaultTo(0);
    // The newest ones: a JSON array.
    table.text('attempts').notNullable().defaultTo('[]');
    table.index(['channel', 'recipient', 'id']);
    table.index(['recipient', 'due_at'], 'notices_waiting_index', { predicate: db.whereNotNull('due_at') });
  });
  await db.schema.alterTable('audit', (table) => {
    // true: the entry is an event that is not announced yet.
    table.boolean('event_due');
    table.index(['id'], 'audit_event_due_index', { predicate: db.whereNotNull('event_due') });
  });
  const stored = await db('settings').where({ key: 'notices' }).first('value');
  const { webhook, ...others } = JSON.parse(stored?.value ?? '{}');
  await db('settings')
    .where({ key: 'notices' })
    .update({ value: JSON.stringify(others) });
  const { url, secret, operator } = webhook ?? {};
  // That of the receiver of the configuration, too.
  const id = '00000000-0000-4000-8000-000000000000';
  const receiver = { id, owner: null, url, secret, types: WEBHOOK_TYPES, isEnabled: operator !== false };
  const receivers = url ? [{ ...receiver, createdAt: Date.now() }] : [];
  if (webhook) await db('settings').insert({ key: 'event-receivers', value: JSON.stringify(receivers) });
  await db('notices').where({ channel: 'webhook' }).update({ recipient: id });
}
