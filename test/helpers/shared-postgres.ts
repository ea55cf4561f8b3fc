// The PostgreSQL server of the tests, and its databases. Import it when a test file is loaded: it stops the server after the tests.
import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import type { Connected } from './postgres.js';
import { TEST_ADMIN } from './sqlite-template.js';
import type { Scope } from './suite.js';

let shared: Promise<Connected> | null = null;
let ownEnd = async (): Promise<void> => {};
after(() => ownEnd());

/** Returns the server of all test files, or a separate one when a test file runs alone. */
export function sharedPostgres(): Promise<Connected> {
  shared ??= open();
  return shared;
}

async function open(): Promise<Connected> {
  // The folder of the server that the test runner has started for all test files (test/tools/run-tests.mjs).
  const runnersFolder = process.env['TEST_POSTGRES_FOLDER'];
  // Imported only when needed: most tests need neither pg nor knex.
  const { connectTo, prepareTemplate, startPostgres } = await import('./postgres.js');
  if (runnersFolder) return connectTo(runnersFolder);
  const postgres = await startPostgres();
  ownEnd = async () => {
    shared = null;
    await postgres.remove();
  };
  await prepareTemplate(postgres);
  return postgres;
}

/** Creates a database and returns its connection string. It is migrated, or empty with `isEmpty`, and has the administrator of test daemons with `withAdmin`. The end of the test drops it. */
export async function newDatabase(t: Scope, { isEmpty = false, withAdmin = false } = {}): Promise<string> {
  const postgres = await sharedPostgres();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await postgres.query(`create database ${name} template ${isEmpty ? 'template0' : postgres.template}`);
  t.after(() => postgres.query(`drop database if exists ${name} with (force)`));
  if (withAdmin) {
    const { storedAdmin } = await import('./passwords.js');
    const row = `('admin.credentials', '${storedAdmin(TEST_ADMIN)}')`;
    await postgres.query(`insert into settings (key, value) values ${row}`, name);
  }
  return postgres.url(name);
}
