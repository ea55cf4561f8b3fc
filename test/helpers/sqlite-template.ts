// A new SQLite database is a copy of a migrated one: migrations would cost each test a tenth of a second.
import { constants } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The file that the test runner made for all test files (test/tools/run-tests.mjs). */
const template = process.env['TEST_SQLITE_TEMPLATE'];

const FILE = 'pulsegate.db';

/** Creates the database of a data folder that has none. Does nothing when a test file runs alone: then its first user migrates. */
export async function copySqliteTemplate(dataDir: string): Promise<void> {
  if (template === undefined) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyFile(template, join(dataDir, FILE), constants.COPYFILE_EXCL).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

/** Creates the template in `folder` and returns its path. */
export async function makeSqliteTemplate(folder: string): Promise<string> {
  // Imported only when needed: most tests need no store.
  const { openStore } = await import('../../src/store/store.js');
  await (await openStore({ client: 'sqlite3', dataDir: folder, busyTimeoutMs: 5_000 })).close();
  return join(folder, FILE);
}
