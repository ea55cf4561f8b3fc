// The nodes of the service: daemons that use this database, each with a lease that it renews. On SQLite there is one.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('nodes', (table) => {
    table.string('name', 253).primary();
    // GUID of the data folder: a restarted daemon acquires its own row immediately.
    table.string('owner', 36).notNullable();
    // GUID of the process.
    table.string('process', 36).notNullable();
    table.string('version', 40).notNullable();
    // JSON.
    table.text('addresses').notNullable();
    table.text('load').notNullable();
    // Milliseconds since the epoch, by the database's clock.
    table.bigInteger('started_at').notNullable();
    table.bigInteger('renewed_at').notNullable();
    // null: it was stopped regularly.
    table.bigInteger('lease_until');
    // null: it accepts connections.
    table.bigInteger('drained_at');
  });
}
