// A whole copy of the database for the operator to download, made while the daemon runs.
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../config.js';
import { openStore } from '../store/store.js';
import { storeOptions } from './database.js';

/** Always the same: what a crash leaves behind is removed by the next backup. */
const FILE = 'backup-download.tmp';

/**
 * @returns makes a backup and returns its bytes, or why there is none: another one is being made, or the database is no file of
 *   ours. Rejects with the error of the database or the disk. The file has no name any more when it is read: nothing of it stays behind.
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
      // By a connection of its own: changes and heartbeats are written meanwhile.
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
