// The PostgreSQL server of the tests, and databases on it. Import it when a test file is loaded: it stops the server after the tests.
import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import type { Connected } from './postgres.js';
import type { Scope } from './suite.js';

/** The folder of the server that the runner has started for all test files (test/tools/run-tests.mjs). */
const runnersFolder = process.env['TEST_POSTGRES_FOLDER'];

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
