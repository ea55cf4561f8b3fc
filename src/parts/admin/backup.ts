// Backs up the database for a download by the operator, while the daemon runs.
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../config.js';
import { openStore } from '../../store/store.js';
import { storeOptions } from '../database/database.js';

/** A fixed name, so that the next backup removes the file that an interrupted one left. */
const FILE = 'backup-download.tmp';

/**
 * @returns a function that makes a backup and returns its bytes; 'busy' while another backup runs, 'not-a-file' with PostgreSQL.
 *   It rejects with the error of the database or the disk. It unlinks the file before reading, so that no file remains.
 */
export function createBackup(
  config: Pick<Config, 'dataDir' | 'database'>,
): () => Promise<Readable | 'busy' | 'not-a-file'> {
  const path = join(config.dataDir, FILE);
  let isBusy = false;
  return async () => {
    if (config.database.client === 'pg') return 'not-a-file';
    if (isBusy) return 'busy';
    isBusy = true;
    try {
      await rm(path, { force: true });
      // A separate connection, so that changes and heartbeats can be written during the backup.
      const store = await openStore({ ...storeOptions(config), mayCreate: false });
      await store.backup(path).finally(() => store.close());
      const handle = await open(path, 'r');
      await rm(path);
      return handle.createReadStream();
    } finally {
      isBusy = false;
    }
  };
}
