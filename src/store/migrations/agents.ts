// The tables of agents.
import type { Knex } from 'knex';

/** 0002: agent runs: the queue, the delivery attempts, the sessions with their history, and idempotency keys. */
export async function runs(db: Knex): Promise<void> {
  await db.schema.createTable('runners', (table) => {
    table.string('id', 36).primary();
    table.string('host', 255).notNullable();
    table.bigInteger('pid').notNullable();
    table.string('pid_start', 64).notNullable();
    table.bigInteger('seen_at').notNullable();
  });

  await db.schema.createTable('runs', (table) => {
    table.string('id', 36).primary();
    table.string('kind', 16).notNullable();
    table.string('agent', 64).notNullable();
    table.string('session', 128);
    table.text('message');
    table.string('origin', 16).notNullable();
    table.string('rerun_of', 36);
    table.string('status', 16).notNullable();
    // The runner that owns the run; not a foreign key, because the runner may be deleted first.
    table.string('owner', 36);
    table.integer('attempt').notNullable();
    table.bigInteger('accepted_at').notNullable();
    table.bigInteger('started_at');
    table.bigInteger('finished_at');
    table.text('reply');
    table.text('error');
    table.string('delivery', 16).notNullable();
    table.integer('delivery_tries').notNullable();
    table.bigInteger('next_delivery_at');
    table.index(['agent', 'id']);
    table.index(['session', 'id']);
    table.index(['status', 'id']);
    table.index(['finished_at']);
    // Few runs are unfinished, so these three indexes stay small.
    table.index(['owner', 'id'], 'runs_open_owner_index', { predicate: db.whereNull('finished_at') });
    table.index(['session', 'id'], 'runs_open_session_index', { predicate: db.whereNull('finished_at') });
    table.index(['next_delivery_at'], 'runs_delivery_index', {
      predicate: db.whereNotNull('next_delivery_at'),
    });
  });

  await db.schema.createTable('run_deliveries', (table) => {
    table.string('id', 36).primary();
    table.string('run_id', 36).notNullable().references('id').inTable('runs').onDelete('CASCADE');
    table.integer('attempt').notNullable();
    table.string('channel', 16).notNullable();
    table.bigInteger('started_at').notNullable();
    table.bigInteger('finished_at').notNullable();
    table.boolean('delivered').notNullable();
    table.text('detail').notNullable();
    table.index(['run_id', 'id']);
  });

  await db.schema.createTable('agent_sessions', (table) => {
    table.string('key', 128).primary();
    table.string('agent', 64).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('last_used_at').notNullable().index();
    table.integer('messages').notNullable();
    table.bigInteger('bytes').notNullable();
  });

  await db.schema.createTable('session_messages', (table) => {
    // Order of arrival; used only in the store.
    table.bigIncrements('position');
    table
      .string('session', 128)
      .notNullable()
      .references('key')
      .inTable('agent_sessions')
      .onDelete('CASCADE');
    table.string('run_id', 36).notNullable();
    table.string('role', 16).notNullable();
    table.text('content').notNullable();
    table.bigInteger('bytes').notNullable();
    table.bigInteger('at').notNullable();
    table.index(['session', 'position']);
  });

  await db.schema.createTable('idempotency_keys', (table) => {
    table.string('key', 255).primary();
    table.string('digest', 64).notNullable();
    table.text('answer').notNullable();
    table.bigInteger('expires_at').notNullable().index();
  });
}
