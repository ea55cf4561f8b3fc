// Databases for tests: PostgreSQL ones, and which engine the tests use that drive the daemon: SQLite, or with TEST_DATABASE=pg a
// PostgreSQL database for every data folder. TEST_DATABASE=better-sqlite3 and node:sqlite choose another client of SQLite.
import { createHash, randomUUID } from 'node:crypto';
import { after } from 'node:test';
import type { StoreOptions } from '../../src/store/store.js';
import type { Connected } from './postgres.js';
import { sqliteClient } from './sqlite-client.js';
import type { Scope } from './suite.js';

/** The folder of the server that the runner has started for all test files (test/tools/run-tests.mjs). */
const runnersFolder = process.env['TEST_POSTGRES_FOLDER'];
const isPg = process.env['TEST_DATABASE'] === 'pg';

let shared: Promise<Connected> | null = null;
let ownEnd = async (): Promise<void> => {};
after(() => ownEnd());

/** The server for all test files; one for this file where it is run alone. */
export function sharedPostgres(): Promise<Connected> {
  shared ??= open();
  return shared;
}

async function open(): Promise<Connected> {
  // Only now: most tests need neither pg nor knex.
  const { connectTo, prepareTemplate, startPostgres } = await import('./postgres.js');
  if (runnersFolder) return connectTo(runnersFolder);
  const postgres = await startPostgres();
  ownEnd = postgres.remove;
  await prepareTemplate(postgres);
  return postgres;
}

/** The connection string of a new database that goes away with the test: migrated, or `isEmpty`. */
export async function newDatabase(t: Scope, { isEmpty = false } = {}): Promise<string> {
  const postgres = await sharedPostgres();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await postgres.query(`create database ${name} template ${isEmpty ? 'template0' : postgres.template}`);
  t.after(() => postgres.query(`drop database if exists ${name} with (force)`));
  return postgres.url(name);
}

/** What opens the database that belongs to a data folder, as a daemon on it does. */
export async function databaseOf(dataDir: string): Promise<StoreOptions> {
  if (!isPg) return { client: sqliteClient, dataDir, busyTimeoutMs: 5_000 };
  return { client: 'pg', dataDir, connection: await pgDatabaseOf(dataDir), poolSize: 4 };
}

/** The section `database` of the configuration of a daemon on `dataDir`. */
export async function databaseSection(dataDir: string): Promise<Record<string, unknown>> {
  if (!isPg) return { client: sqliteClient };
  return { client: 'pg', connection: await pgDatabaseOf(dataDir), poolSize: 4, answerTimeout: '30s' };
}

/** To be called when a data folder goes away. */
export async function dropDatabaseOf(dataDir: string): Promise<void> {
  if (!isPg) return;
  await (await sharedPostgres()).query(`drop database if exists ${nameOf(dataDir)} with (force)`);
}

async function pgDatabaseOf(dataDir: string): Promise<string> {
  const postgres = await sharedPostgres();
  const name = nameOf(dataDir);
  const found = await postgres.query(`select 1 from pg_database where datname = '${name}'`);
  if (found.length === 0) await postgres.query(`create database ${name} template ${postgres.template}`);
  return postgres.url(name);
}

function nameOf(dataDir: string): string {
  return `data_${createHash('sha1').update(dataDir).digest('hex').slice(0, 16)}`;
}
