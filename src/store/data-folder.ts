// The data folder, on every database: created for the user of the daemon alone, like the files in it.
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../core/errors.js';

export const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

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
