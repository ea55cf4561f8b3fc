// The tests of the repositories run on every engine: SQLite, and a PostgreSQL database of their own.
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import type { Clock } from '../../src/core/clock.js';
import { connectPg } from '../../src/store/pg.js';
import { connectSqlite } from '../../src/store/sqlite.js';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.js';
import { newDatabase } from '../helpers/shared-postgres.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { copySqliteTemplate } from '../helpers/sqlite-template.js';
import { tempDir } from './helpers.js';

export interface OpenedStore {
  readonly store: Store;
  /** What opens another store on the same database. */
  readonly place: StoreOptions;
  /** A connection to the same database, as another program would have it. */
  connect(): Knex;
}

/** Opens a store that is closed when the test ends: on a database of its own, or on that of another one. */
export type Open = (options?: {
  readonly place?: StoreOptions;
  readonly now?: Clock;
}) => Promise<OpenedStore>;

export type EngineName = 'sqlite3' | 'pg';

/** Defines the test once for each engine. */
export function onEachEngine(
  name: string,
  run: (open: Open, engine: EngineName, t: TestContext) => Promise<void>,
): void {
  test(`${name} (SQLite)`, (t) => run(opener(t, 'sqlite3'), 'sqlite3', t));
  test(`${name} (PostgreSQL)`, (t) => run(opener(t, 'pg'), 'pg', t));
}

/** For a test of one engine. */
export function opener(t: TestContext, engine: EngineName): Open {
  return async ({ place, now } = {}) => {
    const on = place ?? (await newPlace(t, engine));
    const store = await openStore({ ...on, ...(now ? { now } : {}) });
    t.after(() => store.close());
    return {
      store,
      place: on,
      connect() {
        const db =
          on.client === 'pg'
            ? connectPg(on.connection, 1)
            : connectSqlite(on.client, `${on.dataDir}/pulsegate.db`, 1000);
        t.after(() => db.destroy());
        return db;
      },
    };
  };
}

async function newPlace(t: TestContext, engine: EngineName): Promise<StoreOptions> {
  const dataDir = await tempDir(t);
  if (engine === 'sqlite3') {
    await copySqliteTemplate(dataDir);
    return { client: sqliteClient, dataDir, busyTimeoutMs: 5000 };
  }
  return { client: 'pg', dataDir, connection: await newDatabase(t), poolSize: 4 };
}
