// What reads SQLite files in tests and benchmarks: TEST_DATABASE, where that is a client of SQLite.
import type { SqliteClientName } from '../../src/store/sqlite-driver.js';

const { TEST_DATABASE: chosen } = process.env;

export const sqliteClient: SqliteClientName =
  chosen === 'better-sqlite3' || chosen === 'node:sqlite' ? chosen : 'sqlite3';
