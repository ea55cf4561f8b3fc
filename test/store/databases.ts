// Runs the tests of the repositories on both databases, each on a new SQLite file or PostgreSQL database.
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import type { Clock } from '../../src/core/time/clock.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.js';
import { newDatabase } from '../helpers/shared-postgres.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { copySqliteTemplate } from '../helpers/sqlite-template.js';
import { tempDir } from './helpers.js';

export interface OpenedStore {
  readonly store: Store;
  /** Opens another store on the same database: `open({ database })`. */
  readonly database: StoreOptions;
  /** A connection to the same database, as another program would have it. */
  connect(): Knex;
}

/** Opens a store, on a new database unless `database` is given. The end of the test closes it. */
export type Open = (options?: {
  readonly database?: StoreOptions;
  readonly now?: Clock;
}) => Promise<OpenedStore>;

export type DatabaseKind = 'sqlite3' | 'pg';

/** Defines the test once for each database. */
export function onEachDatabase(
  name: string,
  run: (open: Open, kind: DatabaseKind, t: TestContext) => Promise<void>,
): void {
  test(`${name} (SQLite)`, (t) => run(opener(t, 'sqlite3'), 'sqlite3', t));
  test(`${name} (PostgreSQL)`, (t) => run(opener(t, 'pg'), 'pg', t));
}

/** Returns `open` for a test that runs on one database. */
export function opener(t: TestContext, kind: DatabaseKind): Open {
  return async ({ database, now } = {}) => {
    const options = database ?? (await newOptions(t, kind));
    const store = await openStore({ ...options, ...(now ? { now } : {}) });
    t.after(() => store.close());
    return {
      store,
      database: options,
      connect() {
        const db =
          options.client === 'pg'
            ? connectPg(options.connection, 1)
            : connectSqlite(options.client, `${options.dataDir}/pulsegate.db`, 60_000);
        t.after(() => db.destroy());
        return db;
      },
    };
  };
}

async function newOptions(t: TestContext, kind: DatabaseKind): Promise<StoreOptions> {
  const dataDir = await tempDir(t);
  if (kind === 'sqlite3') {
    await copySqliteTemplate(dataDir);
    return { client: sqliteClient, dataDir, busyTimeoutMs: 60_000 };
  }
  return { client: 'pg', dataDir, connection: await newDatabase(t), poolSize: 4 };
}
