// Brings a database to the schema of this version, and refuses one that is ahead of it.
import type { Knex } from 'knex';
import { StartError } from '../core/errors.js';
import { type Migration, migrations } from './migrations/index.js';

const TABLE = 'schema_migrations';

/** What knex's migrator is to run: a plain list, so that it works from any folder the code is built into. */
export function migratorConfig(list: readonly Migration[] = migrations): Knex.MigratorConfig {
  return {
    tableName: TABLE,
    migrationSource: {
      getMigrations: async () => [...list],
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: async (migration: Migration) => migration,
    },
  };
}

/**
 * Runs the migrations that are missing, all in one transaction: a crash leaves the old schema whole, and of two
 * processes that start together one waits for the other.
 * @throws StartError `database-newer` when the database has migrations this version does not know
 */
export async function migrate(db: Knex, where: string): Promise<void> {
  if (await isCurrent(db, where)) return;
  await db.transaction(async (trx) => {
    if (!(await isCurrent(trx, where))) await trx.migrate.latest(migratorConfig());
  });
}

/** Whether every migration has run. @throws StartError `database-newer` */
export async function isCurrent(db: Knex, where: string): Promise<boolean> {
  if (!(await db.schema.hasTable(TABLE))) return false;
  const done: string[] = await db(TABLE).pluck('name');
  const unknown = done.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartError(
      'database-newer',
      `The database ${where} was written by a newer version of Pulsegate (it has ${unknown.join(', ')}). ` +
        'Install that version or a later one, or restore a backup made by this version.',
    );
  }
  return done.length === migrations.length;
}
