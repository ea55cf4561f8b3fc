// A SQLite file as source or target of a copy.
import { codeOf, StartError } from '../../core/errors.js';
import type { CopySide } from '../copied-tables.js';
import { openSqlite, type SqliteOptions } from './database.js';
import { lockSqlite, sqliteFile } from './files.js';

/**
 * Locks the data folder, so that no daemon runs on it until `close`. @throws StartError `daemon-running`, and the errors of
 * `openStore`
 */
export async function openSqliteCopy(options: SqliteOptions): Promise<CopySide> {
  const where = sqliteFile(options.dataDir);
  const { db, close } = await openSqlite(options, { is: 'command' });
  try {
    const lock = await lockSqlite(where, options.client);
    return {
      where,
      // SQLite has only one writing transaction at a time.
      exclusively: (work) => db.transaction(work),
      finish: async () => {},
      toStored: (value) => (typeof value === 'boolean' ? Number(value) : value),
      async close() {
        await close();
        await lock.release();
      },
    };
  } catch (error) {
    await close();
    if (codeOf(error) !== 'daemon-running') throw error;
    throw new StartError(
      'daemon-running',
      `A daemon uses the database ${where}. Stop it during the copy (systemctl stop pulsegate): its writes would be lost.`,
      { cause: error },
    );
  }
}
