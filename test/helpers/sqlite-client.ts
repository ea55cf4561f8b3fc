// The SQLite client for tests and benchmarks: TEST_DATABASE, if that names one.
import type { SqliteClientName } from '../../src/store/sqlite-driver.js';

const { TEST_DATABASE: chosen } = process.env;

export const sqliteClient: SqliteClientName =
  chosen === 'better-sqlite3' || chosen === 'node:sqlite' ? chosen : 'sqlite3';
