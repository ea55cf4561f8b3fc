// Migrates a database to the schema of this version, and refuses a newer schema.
import type { Knex } from 'knex';
import { StartError } from '../core/errors.js';
import { type Migration, migrations } from './migrations/index.js';

const TABLE = 'schema_migrations';

/** A database whose schema is looked at or changed. */
export interface Target {
  readonly db: Knex;
  readonly engine: 'sqlite3' | 'pg';
  /** How it is called in messages: a file, or a server and a name. */
  readonly where: string;
  /** Called first in the transaction that migrates: waits for other processes that do the same. */
  readonly lock?: (trx: Knex) => Promise<unknown>;
}

/** What knex's migrator is to run: a plain list, so that it works from any folder the code is built into. */
export function migratorConfig(
  engine: Target['engine'],
  list: readonly Migration[] = migrations,
): Knex.MigratorConfig {
  return {
    tableName: TABLE,
    migrationSource: {
      getMigrations: async () => [...list],
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: async (migration: Migration) =>
        migration.engine === undefined || migration.engine === engine ? migration : NOTHING_TO_DO,
    },
  };
}

const NOTHING_TO_DO: Pick<Migration, 'up' | 'down'> = { up: async () => {}, down: async () => {} };

/**
 * Runs the migrations that are missing, all in one transaction: a crash leaves the old schema whole, and of two
 * processes that start together one waits for the other.
 * @throws StartError `database-newer` when the database has migrations this version does not know
 */
export async function migrate(target: Target): Promise<void> {
  if ((await missingMigrations(target)).length === 0) return;
  await target.db.transaction(async (trx) => {
    await target.lock?.(trx);
    if ((await missingMigrations({ ...target, db: trx })).length === 0) return;
    await trx.migrate.latest(migratorConfig(target.engine));
  });
}

/**
 * For a process that may not migrate: a new database gets its schema, one of an older version is left as it is.
 * @throws StartError `database-older`, `database-newer`
 */
export async function migrateOnlyNew(target: Target): Promise<void> {
  const missing = await missingMigrations(target);
  if (missing.length === 0) return;
  if (isNew(missing)) return migrate(target);
  throw new StartError(
    'database-older',
    `The database ${target.where} was written by an older version of Pulsegate (it lacks ${missing.join(', ')}). ` +
      'Only the daemon brings it up to date: restart it with this version (systemctl restart pulsegate), then run the command again.',
  );
}

/** Whether nothing was made yet. */
export function isNew(missing: readonly string[]): boolean {
  return missing.length === migrations.length;
}

/** The migrations that have not run yet, in order. @throws StartError `database-newer` */
export async function missingMigrations({ db, where }: Pick<Target, 'db' | 'where'>): Promise<string[]> {
  const done: string[] = (await db.schema.hasTable(TABLE)) ? await db(TABLE).pluck('name') : [];
  const unknown = done.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartError(
      'database-newer',
      `The database ${where} was written by a newer version of Pulsegate (it has ${unknown.join(', ')}). ` +
        'Install that version or a later one, or restore a backup made by this version.',
    );
  }
  return migrations.map(({ name }) => name).filter((name) => !done.includes(name));
}
