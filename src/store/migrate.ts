// Migrates a database to the schema of this version, and refuses a newer schema.
import type { Knex } from 'knex';
import { StartError } from '../core/errors.js';
import type { Opener } from './database.js';
import { type Migration, migrations } from './migrations/index.js';

const TABLE = 'schema_migrations';

/** A database whose schema is checked or migrated. */
export interface Target {
  readonly db: Knex;
  readonly kind: 'sqlite3' | 'pg';
  /** The name of the database in messages: a file, or a server and a database name. */
  readonly where: string;
  /** Called first in the migrating transaction. Waits for other processes that migrate. */
  readonly lock?: (trx: Knex) => Promise<unknown>;
}

/** The configuration of knex's migrator. The migrations are a list of modules, because the build puts them into one file. */
export function migratorConfig(
  kind: Target['kind'],
  list: readonly Migration[] = migrations,
): Knex.MigratorConfig {
  return {
    tableName: TABLE,
    migrationSource: {
      getMigrations: async () => [...list],
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: async (migration: Migration) =>
        migration.kind === undefined || migration.kind === kind
          ? { ...NO_OPERATION, ...migration }
          : NO_OPERATION,
    },
  };
}

// knex asks every migration for its `down`, and nothing calls it.
const NO_OPERATION = { up: async () => {}, down: async () => {} };

/**
 * Runs the missing migrations in one transaction: a crash leaves the old schema unchanged, and of two processes that start at the
 * same time one waits for the other.
 * @throws StartError `database-newer` when the database has migrations that this version does not know
 */
export async function migrate(target: Target): Promise<void> {
  if ((await missingMigrations(target)).length === 0) return;
  await target.db.transaction(async (trx) => {
    await target.lock?.(trx);
    if ((await missingMigrations({ ...target, db: trx })).length === 0) return;
    await trx.migrate.latest(migratorConfig(target.kind));
  });
}

/**
 * Migrates for the daemon. A command may not migrate: it creates the schema of a new database, and refuses one of an older version.
 * @param copy copies the database before its migration
 * @throws StartError `database-older`, `database-newer`
 */
export async function migrateOnOpen(
  target: Target,
  opener: Opener,
  copy: { readonly file: string; write(): Promise<void> } | null,
): Promise<void> {
  const missing = await missingMigrations(target);
  if (missing.length === 0) return;
  if (isNew(missing)) return migrate(target);
  if (opener.is === 'command')
    throw new StartError(
      'database-older',
      `The database ${target.where} was written by an older version of Pulsegate (it lacks ${missing.join(', ')}). ` +
        'Only the daemon migrates it: restart the daemon with this version (systemctl restart pulsegate), then run the command again.',
    );
  const startedAt = performance.now();
  opener.onMigration({ kind: 'started', missing, copy: copy?.file ?? null });
  await copy?.write();
  await migrate(target);
  opener.onMigration({ kind: 'finished', ran: missing, tookMs: Math.round(performance.now() - startedAt) });
}

/** Whether the database has no schema yet. */
export const isNew = (missing: readonly string[]): boolean => missing.length === migrations.length;

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
