// What the daemon and the command line share: the database, opened, and the rules over it.
import { randomUUID } from 'node:crypto';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import { type Accounts, createAccounts } from '../core/accounts/accounts.js';
import { AccountDirectory } from '../core/accounts/directory.js';
import { type AdminCredentials, createAdminCredentials } from '../core/auth/admin-credentials.js';
import { createWhitelistSetting, type WhitelistSetting } from '../core/auth/whitelist-setting.js';
import { HeartbeatPool } from '../core/heartbeats/heartbeat-pool.js';
import type { Log } from '../core/log.js';
import { createSettings, type Settings } from '../core/settings/settings.js';
import {
  type DaemonStore,
  type MigrationEvent,
  openDaemonStore,
  openStore,
  type Store,
  type StoreOptions,
} from '../store/store.js';

/** What the daemon and the command line share: the store and the rules over it. */
export interface Core {
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly pool: HeartbeatPool;
  readonly accounts: Accounts;
  readonly whitelist: WhitelistSetting;
  readonly credentials: AdminCredentials;
  /** All that operators set at run time: the daemon follows what other processes change of it. */
  readonly settings: Settings;
}

/**
 * Opens the database for a command and fills what is kept of it in memory. Throws StartError.
 * `mayCreate`: whether a database is made where there is none.
 */
export async function openCore(config: Config, { mayCreate = true } = {}): Promise<Core> {
  return fill(config, await openStore({ ...storeOptions(config), mayCreate }));
}

/** The same for the daemon, which migrates the database and is the only one on it. Throws StartError. */
export async function openDaemonCore(
  config: Config,
  log: Log,
): Promise<Core & { readonly store: DaemonStore }> {
  const onMigration = (event: MigrationEvent) => reportMigration(log, event);
  return fill(config, await openDaemonStore({ ...storeOptions(config), onMigration }));
}

function storeOptions({ dataDir, database }: Config): StoreOptions {
  return {
    dataDir,
    client: database.client,
    busyTimeoutMs: database.busyTimeoutMs,
    reading: { readers: database.readers, timeoutMs: database.readTimeoutMs },
  };
}

function reportMigration(log: Log, event: MigrationEvent): void {
  if (event.kind === 'started') {
    const { missing, copy } = event;
    return log.info({ missing, copy }, 'database is of an older version; it is copied, then migrated');
  }
  log.info({ ran: event.ran, tookMs: event.tookMs }, 'database migrated');
}

async function fill<S extends Store>(config: Config, store: S): Promise<Core & { readonly store: S }> {
  try {
    return { ...(await load(config, store)), store };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function load(config: Config, store: Store): Promise<Core> {
  const { retention, maxPending } = config.heartbeats;
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const pool = new HeartbeatPool({ maxPending, maxPerAccount: retention.perAccount });
  pool.load(await store.heartbeats.totals());
  const accounts = createAccounts({
    store: store.accounts,
    directory,
    pool,
    now: Date.now,
    newId: randomUUID,
  });
  const settings = createSettings();
  const whitelist = await settings.open(createWhitelistSetting(store.settings));
  const credentials = await settings.open(createAdminCredentials({ settings: store.settings }));
  return { store, directory, pool, accounts, whitelist, credentials, settings };
}

/** Takes in accounts that another process changed in the database. Rejects when it cannot be read. */
export async function applyAccounts(
  { accounts }: Core,
  limits: AccountLimitsService,
  ids: readonly string[],
): Promise<void> {
  await accounts.refresh(ids);
  await limits.refresh(ids.filter((id) => accounts.get(id)));
}
