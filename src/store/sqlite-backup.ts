// Backs up the SQLite database while it is in use.
import { open, rename, rm, stat } from 'node:fs/promises';
import type { Knex } from 'knex';
import { createPrivate } from './sqlite-files.js';

/** The end of the name of a backup that is being written. */
const UNFINISHED = '.unfinished';

/**
 * Writes a whole, compact copy to `target` (0600), which must not exist. It is written under another
 * name and renamed when it is complete, so that an interrupted backup is never mistaken for one. @throws the file system's or SQLite's error
 */
export async function backupSqlite(db: Knex, target: string): Promise<void> {
  const exists = await stat(target).then(
    () => true,
    () => false,
  );
  if (exists) throw Object.assign(new Error(`${target} exists already`), { code: 'EEXIST' });
  const unfinished = `${target}${UNFINISHED}`;
  // Left by a backup that was interrupted.
  await rm(unfinished, { force: true });
  await createPrivate(unfinished);
  try {
    await db.raw('vacuum into ?', [unfinished]);
    await syncToDisk(unfinished);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Waits until the file is on the disk: VACUUM INTO leaves that to the operating system. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
