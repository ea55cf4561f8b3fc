// The paths of the SQLite file and its folder, and their permissions: other users cannot read them.
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, StartError } from '../core/errors.js';

const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

/** The database file of a data folder, as an absolute path. */
export function sqliteFile(dataDir: string): string {
  return join(resolve(dataDir), 'pulsegate.db');
}

/**
 * Creates the data folder (0700) if it is missing, and removes the permissions of group and others if it exists, regardless of the
 * umask.
 * @throws the error of the file system
 */
export async function prepareFolder(dataDir: string): Promise<void> {
  if (await makeFolder(resolve(dataDir))) return chmod(dataDir, 0o700);
  const { mode } = await stat(dataDir);
  // A sticky folder (/tmp) is shared on purpose.
  if (!(mode & GROUP_AND_OTHERS) || mode & STICKY) return;
  await chmod(dataDir, mode & 0o700).catch((error: unknown) => {
    // A folder of another user (a mounted volume) cannot be changed. That is acceptable: the files in it are private.
    if (codeOf(error) !== 'EPERM') throw error;
  });
}

/**
 * Creates a folder and its missing parents; returns false when it already exists.
 * Does not use Node's recursive mkdir, which never ends for an existing folder in which nothing can be created, such as /proc.
 */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    const parent = dirname(folder);
    if (codeOf(error) === 'ENOENT' && parent !== folder) {
      await makeFolder(parent);
      await mkdir(folder, { mode: 0o700 });
      return true;
    }
    const found = await stat(folder).catch(() => null);
    if (found?.isDirectory()) return false;
    throw error;
  }
}

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

/**
 * Creates an empty database file (0600) if it is missing, and removes the permissions of group and others if it exists.
 * SQLite gives its -wal and -shm files the mode and owner of the database file.
 * @throws the error of the file system
 */
export async function prepareFile(file: string): Promise<void> {
  if (await createPrivate(file)) return giveToFolderOwner(file);
  for (const name of [file, `${file}-wal`, `${file}-shm`]) await makePrivate(name);
}

/** Changes the owner of a file that root created to that of the folder, so that the daemon's user can access it. */
export async function giveToFolderOwner(file: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const folder = await stat(dirname(file));
  await chown(file, folder.uid, folder.gid);
}

/** Creates an empty file with mode 0600, regardless of the umask; returns false when it already exists. */
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

async function makePrivate(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found && found.mode & GROUP_AND_OTHERS) await chmod(file, 0o600);
}
