// The database package of SQLite for tests and benchmarks: TEST_DATABASE, if that names one.
import type { SqlitePackageChoice } from '../../src/store/sqlite/package.js';

const NAMES: readonly SqlitePackageChoice[] = [
  'sqlite3',
  'node:sqlite',
  '@photostructure/sqlite',
  'better-sqlite3',
];

export const sqliteClient = NAMES.find((name) => name === process.env['TEST_DATABASE']) ?? 'auto';
