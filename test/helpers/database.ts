// Selects the database of tests with a daemon: SQLite, or with TEST_DATABASE=pg one PostgreSQL database per data folder.
// TEST_DATABASE with the name of a database package of SQLite selects that package.
import { createHash } from 'node:crypto';
import type { StoreOptions } from '../../src/store/store.js';
import { sqliteClient } from './sqlite-client.js';
import { copySqliteTemplate } from './sqlite-template.js';

const isPg = process.env['TEST_DATABASE'] === 'pg';
// Imported only when needed: benchmarks use these helpers too, and shared-postgres.ts starts a test runner.
type SharedPostgres = typeof import('./shared-postgres.js');
const postgres: SharedPostgres | null = isPg ? await import('./shared-postgres.js') : null;

/** Returns the options that open the database of a data folder, as a daemon on that folder opens it. */
export async function databaseOf(dataDir: string): Promise<StoreOptions> {
  if (postgres === null) {
    await copySqliteTemplate(dataDir);
    return { client: sqliteClient, dataDir, busyTimeoutMs: 60_000 };
  }
  return { client: 'pg', dataDir, connection: await pgDatabaseOf(postgres, dataDir), poolSize: 4 };
}

/** Returns the section `database` in the configuration of a daemon on `dataDir`. */
export async function databaseSection(dataDir: string): Promise<Record<string, unknown>> {
  if (postgres === null) return { client: sqliteClient };
  return {
    client: 'pg',
    connection: await pgDatabaseOf(postgres, dataDir),
    poolSize: 4,
    answerTimeout: '30s',
  };
}

/** Drops the database of a data folder that is removed. */
export async function dropDatabaseOf(dataDir: string): Promise<void> {
  if (postgres === null) return;
  await (await postgres.sharedPostgres()).query(`drop database if exists ${nameOf(dataDir)} with (force)`);
}

async function pgDatabaseOf({ sharedPostgres }: SharedPostgres, dataDir: string): Promise<string> {
  const postgres = await sharedPostgres();
  const name = nameOf(dataDir);
  const found = await postgres.query(`select 1 from pg_database where datname = '${name}'`);
  if (found.length === 0) await postgres.query(`create database ${name} template ${postgres.template}`);
  return postgres.url(name);
}

function nameOf(dataDir: string): string {
  return `data_${createHash('sha1').update(dataDir).digest('hex').slice(0, 16)}`;
}
