// A lock for one daemon per data folder. Commands do not take it, so that they work while a daemon runs.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf, StartError } from '../core/errors.js';
import { createPrivate, giveToFolderOwner } from './data-folder.js';
import { connectSqlite } from './sqlite/connect.js';
import type { SqlitePackageChoice } from './sqlite/package.js';

/** How long to wait for a daemon that was just killed, in ms. */
const WAIT_MS = 1000;

export type DaemonLock = Awaited<ReturnType<typeof lockForDaemon>>;

/**
 * Locks a data folder, and the database in it, for this process. The system releases the lock when the process ends, also after a
 * crash. The process id is in a separate file, because closing a file drops every lock that the process has on it.
 * @param what the locked object, for the error message
 * @throws StartError `daemon-running` while another process has the lock; the error of SQLite or the file system
 */
export async function lockForDaemon(dataDir: string, what: string, choice: SqlitePackageChoice = 'auto') {
  const lockFile = resolve(dataDir, 'pulsegate.lock');
  const pidFile = resolve(dataDir, 'pulsegate.pid');
  if (await createPrivate(lockFile)) await giveToFolderOwner(lockFile);
  const db = connectSqlite(choice, lockFile, WAIT_MS);
  try {
    // The file is never written, so it needs no journal.
    await db.raw('pragma journal_mode = off');
    await db.raw('begin exclusive');
  } catch (error) {
    await db.destroy();
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    throw await inUse(what, pidFile, error);
  }
  // Only for the error message: the lock works without it.
  await rm(pidFile, { force: true })
    .then(() => writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 }))
    .catch(() => undefined);
  return {
    async release(): Promise<void> {
      await rm(pidFile, { force: true }).catch(() => undefined);
      await db.destroy();
    },
  };
}

async function inUse(what: string, pidFile: string, cause: unknown): Promise<StartError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  const who = /^\d+$/.test(pid) ? ` (process ${pid})` : '';
  return new StartError(
    'daemon-running',
    `${what} is in use by another daemon${who}. ` +
      'Stop that daemon first (systemctl stop pulsegate), or set another data folder (dataDir).',
    { cause },
  );
}
