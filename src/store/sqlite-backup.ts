// A copy of the SQLite database while it is in use.
import { open, rm } from 'node:fs/promises';
import type { Knex } from 'knex';
import { createPrivate } from './sqlite-files.js';

/** Writes a whole, compact copy to `target` (0600), which must not exist. @throws the file system's or SQLite's error */
export async function backupSqlite(db: Knex, target: string): Promise<void> {
  if (!(await createPrivate(target))) {
    throw Object.assign(new Error(`${target} exists already`), { code: 'EEXIST' });
  }
  try {
    await db.raw('vacuum into ?', [target]);
    await syncToDisk(target);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

/** SQLite leaves what VACUUM INTO wrote to the operating system; this waits for the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
