// The SQLite file and its folder on disk: where they are, and that nobody else may read them.
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf } from './sqlite-errors.js';

const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

/** The database file of a data folder, as an absolute path. */
export function sqliteFile(dataDir: string): string {
  return join(resolve(dataDir), 'pulsegate.db');
}

/**
 * Makes the data folder (0700) and an empty database file (0600) where they are missing, and closes them to others
 * where they are open, whatever the umask. SQLite gives its -wal and -shm files the mode of the database file.
 * @throws the file system's error
 */
export async function prepareFiles(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = await stat(dataDir);
  // A sticky folder (/tmp) is shared on purpose. A folder of somebody else's (a mounted volume) cannot be
  // changed, and need not be: the files inside are closed by themselves.
  if (folder.mode & GROUP_AND_OTHERS && !(folder.mode & STICKY)) {
    await chmod(dataDir, folder.mode & 0o700).catch((error: unknown) => {
      if (codeOf(error) !== 'EPERM') throw error;
    });
  }
  const file = sqliteFile(dataDir);
  if (await createPrivate(file)) {
    // A command run by root must not lock out the daemon's own user.
    if (process.geteuid?.() === 0) await chown(file, folder.uid, folder.gid);
    return;
  }
  for (const name of [file, `${file}-wal`, `${file}-shm`]) await closeToOthers(name);
}

/** Makes an empty file of mode 0600, whatever the umask; false when there is one already. */
export async function createPrivate(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.chmod(0o600);
    await handle.close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function closeToOthers(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found && found.mode & GROUP_AND_OTHERS) await chmod(file, 0o600);
}
