// Backs up the SQLite database while it is in use.
import { open, rename, rm, stat } from 'node:fs/promises';
import type { Knex } from 'knex';
import { createPrivate } from '../data-folder.js';
import { markCopy } from './log-owner.js';

/** The file name suffix of a backup that is being written. */
const UNFINISHED = '.unfinished';

/**
 * Writes a complete, compact copy to `target` (mode 0600), which must not exist. Writes it under another name and renames it when it
 * is complete, so that an interrupted backup cannot be mistaken for a complete one.
 * @throws the error of the file system or of SQLite
 */
export async function backupSqlite(db: Knex, target: string): Promise<void> {
  const exists = await stat(target).then(
    () => true,
    () => false,
  );
  if (exists) throw Object.assign(new Error(`${target} already exists`), { code: 'EEXIST' });
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
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
