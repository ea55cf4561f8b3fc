// Shared by the tests of the store: temporary data folders, stores, connections and heartbeat entries.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Account } from '../../src/core/accounts/account.js';
import type { Heartbeat } from '../../src/core/heartbeats/heartbeat.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import type { SqliteOptions } from '../../src/store/sqlite/database.js';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { copySqliteTemplate } from '../helpers/sqlite-template.js';

export async function tempDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'pulsegate-store-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Opens a store on a new database, or that of `dataDir`, which may be none yet: then it migrates. The end of the test closes it. */
export async function openTestStore(
  t: TestContext,
  options: Partial<SqliteOptions & Pick<StoreOptions, 'now'>> = {},
): Promise<{ store: Store; dataDir: string; file: string }> {
  const dataDir = options.dataDir ?? (await tempDir(t));
  if (options.dataDir === undefined) await copySqliteTemplate(dataDir);
  const store = await openStore({ client: sqliteClient, busyTimeoutMs: 60_000, ...options, dataDir });
  t.after(() => store.close());
  return { store, dataDir, file: join(dataDir, 'pulsegate.db') };
}

/** Opens a second connection to the same file, as another program would. */
export function connectBeside(t: TestContext, file: string, busyTimeoutMs = 60_000) {
  const db = connectSqlite(sqliteClient, file, busyTimeoutMs);
  t.after(() => db.destroy());
  return db;
}

export { account } from '../helpers/account.js';

export function heartbeat(of: Pick<Account, 'id' | 'username'>, fields: Partial<Heartbeat> = {}): Heartbeat {
  return {
    at: 1_700_000_000_000,
    accountId: of.id,
    username: of.username,
    sessionId: randomUUID(),
    client: '2001:db8::1',
    destination: 'play.example:7000',
    protocol: 'tcp',
    bytesUp: 1,
    bytesDown: 2,
    kind: 'beat',
    gameId: null,
    ...fields,
  };
}

export const KEEP_ALL = { maxAgeMs: Number.MAX_SAFE_INTEGER, maxPerAccount: 10_000 };
