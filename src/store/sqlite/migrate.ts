// Migrates a SQLite file that only this process uses, after copying it.
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import { giveToFolderOwner } from '../data-folder.js';
import type { MigrationEvent } from '../database.js';
import { isNew, migrate, missingMigrations, type Target } from '../migrate.js';
import { backupSqlite, syncToDisk } from './backup.js';

/**
 * Migrates the database. Copies it to `copyFile` first, unless it is new.
 * @throws StartError `database-newer`
 */
export async function migrateWithCopy(
  target: Target,
  copyFile: string,
  onEvent: (event: MigrationEvent) => void,
): Promise<void> {
  const missing = await missingMigrations(target);
  if (missing.length === 0) return;
  if (isNew(missing)) return migrate(target);
  const startedAt = performance.now();
  onEvent({ kind: 'started', missing, copy: copyFile });
  await replaceCopy(target.db, copyFile);
  await migrate(target);
  onEvent({ kind: 'finished', ran: missing, tookMs: Math.round(performance.now() - startedAt) });
}

/** Replaces the previous copy in one step. */
async function replaceCopy(db: Knex, copyFile: string): Promise<void> {
  const unfinished = `${copyFile}.part`;
  await rm(unfinished, { force: true });
  await backupSqlite(db, unfinished);
  await giveToFolderOwner(unfinished);
  await rename(unfinished, copyFile);
  await syncToDisk(dirname(copyFile));
}
