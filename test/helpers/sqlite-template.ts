// A new SQLite database is a copy of a migrated one: migrations would cost each test a tenth of a second.
import { constants } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The file that the test runner made for all test files (test/tools/run-tests.mjs). */
const template = process.env['TEST_SQLITE_TEMPLATE'];

/** The administrator of all test daemons. */
export const TEST_ADMIN = { username: 'admin', password: 'test-admin-password' };

const FILE = 'pulsegate.db';

/** The folder of the template in which the administrator of all test daemons is stored. */
const WITH_ADMIN = 'with-admin';

/**
 * Creates the database of a data folder that has none. Does nothing when a test file runs alone: then its first user migrates.
 * @param withAdmin whether the administrator of all test daemons is stored, which spares each daemon a slow password hash
 */
export async function copySqliteTemplate(dataDir: string, { withAdmin = false } = {}): Promise<void> {
  if (template === undefined) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const source = withAdmin ? join(dirname(template), WITH_ADMIN, FILE) : template;
  await copyFile(source, join(dataDir, FILE), constants.COPYFILE_EXCL).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

/** Creates the template in `folder` and returns its path. */
export async function makeSqliteTemplate(folder: string): Promise<string> {
  // Imported only when needed: most tests need no store.
  const { openStore } = await import('../../src/store/store.js');
  const { storedAdmin } = await import('./passwords.js');
  const open = (dataDir: string) => openStore({ client: 'auto', dataDir, busyTimeoutMs: 5_000 });
  await (await open(folder)).close();
  const withAdmin = join(folder, WITH_ADMIN);
  await mkdir(withAdmin);
  await copyFile(join(folder, FILE), join(withAdmin, FILE));
  const store = await open(withAdmin);
  await store.settings.set('admin.credentials', storedAdmin(TEST_ADMIN));
  await store.close();
  return join(folder, FILE);
}
