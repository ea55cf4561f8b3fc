// Brings a database to the schema of this version, and refuses one that is ahead of it.
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import { StartError } from '../core/errors.js';
import { type Migration, migrations } from './migrations/index.js';
import { backupSqlite, syncToDisk } from './sqlite-backup.js';
import { giveToFolderOwner } from './sqlite-files.js';

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

/** What the daemon tells while it brings a database up to date. */
export type MigrationEvent =
  /** `copy`: the file that a copy of the database is being written to first. */
  | { readonly kind: 'started'; readonly missing: readonly string[]; readonly copy: string }
  | { readonly kind: 'finished'; readonly ran: readonly string[]; readonly tookMs: number };

/**
 * Runs the migrations that are missing, all in one transaction: a crash leaves the old schema whole, and of two
 * processes that start together one waits for the other.
 * @throws StartError `database-newer` when the database has migrations this version does not know
 */
export async function migrate(db: Knex, where: string): Promise<void> {
  if ((await missingMigrations(db, where)).length === 0) return;
  await db.transaction(async (trx) => {
    if ((await missingMigrations(trx, where)).length > 0) await trx.migrate.latest(migratorConfig());
  });
}

/**
 * Brings a database up to date that belongs to this process alone; one that holds anything is copied to `copyFile` first.
 * @throws StartError `database-newer`
 */
export async function migrateWithCopy(
  db: Knex,
  where: string,
  copyFile: string,
  tell: (event: MigrationEvent) => void,
): Promise<void> {
  const missing = await missingMigrations(db, where);
  if (missing.length === 0) return;
  const startedAt = performance.now();
  const isEmpty = missing.length === migrations.length;
  if (!isEmpty) {
    tell({ kind: 'started', missing, copy: copyFile });
    await replaceCopy(db, copyFile);
  }
  await migrate(db, where);
  if (!isEmpty) tell({ kind: 'finished', ran: missing, tookMs: Math.round(performance.now() - startedAt) });
}

/** The newest copy takes the place of the one before it, whole. */
async function replaceCopy(db: Knex, copyFile: string): Promise<void> {
  const unfinished = `${copyFile}.part`;
  await rm(unfinished, { force: true });
  await backupSqlite(db, unfinished);
  await giveToFolderOwner(unfinished);
  await rename(unfinished, copyFile);
  await syncToDisk(dirname(copyFile));
}

/**
 * For a process that may not migrate: a new database gets its schema, one of an older version is left as it is.
 * @throws StartError `database-older`, `database-newer`
 */
export async function migrateOnlyNew(db: Knex, where: string): Promise<void> {
  const missing = await missingMigrations(db, where);
  if (missing.length === 0) return;
  if (missing.length === migrations.length) return migrate(db, where);
  throw new StartError(
    'database-older',
    `The database ${where} was written by an older version of Pulsegate (it lacks ${missing.join(', ')}). ` +
      'Only the daemon brings it up to date: restart it with this version (systemctl restart pulsegate), then run the command again.',
  );
}

/** The migrations that have not run yet, in order. @throws StartError `database-newer` */
export async function missingMigrations(db: Knex, where: string): Promise<string[]> {
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
