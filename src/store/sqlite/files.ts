// The SQLite file: its path, its permissions (other users cannot read it), and backups while it is in use.
import { chmod, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Knex } from 'knex';
import { codeOf, StartError } from '../../core/errors.js';
import { type DaemonLock, lockForDaemon } from '../daemon-lock.js';
import { createPrivate, GROUP_AND_OTHERS, giveToFolderOwner } from '../data-folder.js';
import { markCopy } from './foreign-log.js';
import type { SqlitePackageChoice } from './package.js';

/** The database file of a data folder, as an absolute path. */
export const sqliteFile = (dataDir: string): string => join(resolve(dataDir), 'pulsegate.db');

/**
 * Checks that the file exists.
 * @throws StartError `database-missing`, `data-dir-unusable` (no permission to read the folder); the error of the file system
 */
export async function requireFile(file: string): Promise<void> {
  const folder = dirname(file);
  try {
    // A start that failed early leaves an empty file.
    if ((await stat(file)).size > 0) return;
  } catch (error) {
    if (codeOf(error) === 'EACCES') {
      throw new StartError(
        'data-dir-unusable',
        `This user may not read ${folder}. Run the command as root or as the user of the daemon.`,
        { cause: error },
      );
    }
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  throw new StartError('database-missing', `There is no database in ${folder}.`);
}

/** Locks the database for this process. A symbolic link leads to the same lock as the file. @throws as `lockForDaemon` */
export async function lockSqlite(file: string, choice: SqlitePackageChoice): Promise<DaemonLock> {
  const found = await realpath(file).catch(() => file);
  return lockForDaemon(dirname(found), `The database ${file}`, choice);
}

/**
 * Creates an empty database file (0600) if it is missing, and removes the permissions of group and others if it exists.
 * SQLite gives its -wal and -shm files the mode and owner of the database file.
 * @throws the error of the file system
 */
export async function prepareFile(file: string): Promise<void> {
  if (await createPrivate(file)) return giveToFolderOwner(file);
  for (const name of [file, `${file}-wal`, `${file}-shm`]) await makePrivate(name);
}

async function makePrivate(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found && found.mode & GROUP_AND_OTHERS) await chmod(file, 0o600);
}

/** The file name suffix of a backup that is being written. */
const UNFINISHED = '.unfinished';

/**
 * Writes a complete, compact copy to `target` (mode 0600), which must not exist. Writes it under another name and renames it when it
 * is complete, so that an interrupted backup cannot be mistaken for a complete one.
 * @throws the error of the file system or of SQLite
 */
export async function backupSqlite(db: Knex, target: string): Promise<void> {
  if (await stat(target).catch(() => null))
    throw Object.assign(new Error(`${target} already exists`), { code: 'EEXIST' });
  const unfinished = `${target}${UNFINISHED}`;
  // The remains of an interrupted backup.
  await rm(unfinished, { force: true });
  await createPrivate(unfinished);
  try {
    await db.raw('vacuum into ?', [unfinished]);
    // VACUUM INTO does not sync.
    await markCopy(unfinished);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Waits until the file is on the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
