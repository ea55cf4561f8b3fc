// What the daemon and the command line share: the database, opened, and the rules over it.
import { randomUUID } from 'node:crypto';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import { type Accounts, createAccounts } from '../core/accounts/accounts.js';
import { AccountDirectory } from '../core/accounts/directory.js';
import { HeartbeatPool } from '../core/heartbeats/heartbeat-pool.js';
import {
  ADMIN_CREDENTIALS_KEY,
  type AdminCredentials,
  createAdminCredentials,
} from '../core/operator/admin-credentials.js';
import {
  createWhitelistSetting,
  WHITELIST_KEY,
  type WhitelistSetting,
} from '../core/operator/whitelist-setting.js';
import type { Store } from '../core/ports.js';
import { openStore } from '../store/store.js';

/** What the daemon and the command line share: the store and the rules over it. */
export interface Core {
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly pool: HeartbeatPool;
  readonly accounts: Accounts;
  readonly whitelist: WhitelistSetting;
  readonly credentials: AdminCredentials;
}

/** Opens the database and fills what is kept of it in memory. Throws StartError. */
export async function openCore(config: Config): Promise<Core> {
  const { retention, maxPending } = config.heartbeats;
  const store = await openStore({
    dataDir: config.dataDir,
    client: config.database.client,
    busyTimeoutMs: config.database.busyTimeoutMs,
  });
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
  const whitelist = createWhitelistSetting(store.settings);
  await whitelist.reload();
  const credentials = createAdminCredentials({ settings: store.settings });
  return { store, directory, pool, accounts, whitelist, credentials };
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

/** Takes in a setting that another process changed; one that is kept elsewhere is passed over. */
export async function applySetting({ whitelist, credentials }: Core, key: string): Promise<void> {
  if (key === WHITELIST_KEY) return whitelist.reload();
  if (key === ADMIN_CREDENTIALS_KEY) return credentials.reload();
}
