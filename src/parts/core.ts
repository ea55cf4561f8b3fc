// What the daemon and the command line share: the rules over an open database.
import { randomUUID } from 'node:crypto';
import type { Config } from '../config.js';
import { type AccountUsage, createAccountUsage } from '../core/accounts/account-usage.js';
import { type Accounts, createAccounts } from '../core/accounts/accounts.js';
import { AccountDirectory } from '../core/accounts/directory.js';
import { type AdminCredentials, createAdminCredentials } from '../core/auth/admin-credentials.js';
import { createWhitelistSetting, type WhitelistSetting } from '../core/auth/whitelist-setting.js';
import { HeartbeatPool } from '../core/heartbeats/heartbeat-pool.js';
import { SessionRegistry } from '../core/sessions/session-registry.js';
import { createSettings, type Settings } from '../core/settings/settings.js';
import { openStore, type Store } from '../store/store.js';
import { storeOptions } from './database.js';

export interface Core {
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly pool: HeartbeatPool;
  readonly accounts: Accounts;
  /** What accounts have used; empty until `usage.load()`, which reads the traffic of all. */
  readonly usage: AccountUsage;
  /** Live sessions: of a command, none. */
  readonly sessions: SessionRegistry;
  readonly whitelist: WhitelistSetting;
  readonly credentials: AdminCredentials;
  /** All that operators set at run time: the daemon follows what other processes change of it. */
  readonly settings: Settings;
}

/**
 * Opens the database for a command and reads into memory what is kept there. Throws StartError.
 * `mayCreate`: whether a database is made where there is none.
 */
export async function openCore(config: Config, { mayCreate = true } = {}): Promise<Core> {
  const store = await openStore({ ...storeOptions(config), mayCreate });
  try {
    return await createCore(config, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Reads into memory what is kept there. Rejects when the database cannot be read. */
export async function createCore(config: Config, store: Store): Promise<Core> {
  const { retention, maxPending } = config.heartbeats;
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const pool = new HeartbeatPool({ maxPending, maxPerAccount: retention.perAccount });
  pool.load(await store.heartbeats.totals());
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({ store: store.traffic, directory, sessions, now: Date.now });
  const accounts = createAccounts({
    store: store.accounts,
    directory,
    usage,
    pool,
    egressClasses: Object.keys(config.egress.classes),
    maxAuthorizedAddresses: config.socks.maxAuthorizedAddresses,
    now: Date.now,
    newId: randomUUID,
  });
  const settings = createSettings();
  const whitelist = await settings.open(createWhitelistSetting(store.settings));
  const credentials = await settings.open(createAdminCredentials({ settings: store.settings }));
  return { store, directory, pool, accounts, usage, sessions, whitelist, credentials, settings };
}
