// The objects that the daemon and the command line share: the features of core with an open database.
import type { Config } from '../config.js';
import { createAccounts } from '../core/accounts/accounts.js';
import { AccountDirectory } from '../core/accounts/directory.js';
import { createPlansSetting } from '../core/accounts/plans/plans.js';
import { createPacSetting } from '../core/accounts/player/pac.js';
import { createAccountUsage } from '../core/accounts/usage/account-usage.js';
import { createTimeZonesSetting } from '../core/accounts/usage/calendar.js';
import { createAdminCredentials } from '../core/auth/admin-credentials.js';
import { createPeoplePasswords } from '../core/auth/people-passwords.js';
import { createWhitelistSetting } from '../core/auth/whitelist.js';
import { mayOwnerUse } from '../core/exits/exit.js';
import { createExitsSetting } from '../core/exits/exits-setting.js';
import { HeartbeatPool } from '../core/heartbeats/heartbeat-pool.js';
import { createOrderedIds } from '../core/ids.js';
import type { Log } from '../core/log.js';
import { SessionRegistry } from '../core/sessions/session-registry.js';
import { createSettings } from '../core/settings/setting.js';
import { openStore, type Store } from '../store/store.js';
import { storeOptions } from './database/database.js';
import { configuredExits } from './players/proxy-settings.js';

/**
 * Opens the database for a command and loads accounts and settings into memory. Throws StartError.
 * `mayCreate`: whether to create a missing database.
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

export type Core = Awaited<ReturnType<typeof createCore>>;

/** What parts get: of the configuration and of core what they use, the log, and the clock. */
export interface PartDeps<OfConfig extends keyof Config, OfCore extends keyof Core> {
  readonly config: Pick<Config, OfConfig>;
  readonly core: Pick<Core, OfCore>;
  readonly log: Log;
  readonly now: () => number;
}

/** Loads accounts and settings into memory. Rejects when the database cannot be read. @param sessions see Core */
export async function createCore(config: Config, store: Store, sessions = new SessionRegistry()) {
  const { retention, maxPending, gamesPerAccount } = config.heartbeats;
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const pool = new HeartbeatPool({ maxPending, maxPerAccount: retention.perAccount });
  pool.load(await store.heartbeats.totals());
  const { calendar } = store;
  const settings = createSettings();
  const timeZones = await settings.open(createTimeZonesSetting(store.settings, calendar));
  const usage = createAccountUsage({
    store: store.traffic,
    directory,
    sessions,
    calendar,
    maxGames: gamesPerAccount,
    now: Date.now,
  });
  const exits = await settings.open(createExitsSetting(store.settings, configuredExits(config)));
  const accounts = createAccounts({
    store: store.accounts,
    directory,
    usage,
    pool,
    calendar,
    egressClasses: Object.keys(config.egress.classes),
    hasExit(name, owner) {
      const exit = exits.byName(name);
      return exit !== null && mayOwnerUse(exit, owner);
    },
    maxAuthorizedAddresses: config.socks.maxAuthorizedAddresses,
    maxAllowedClients: config.socks.maxAllowedClients,
    geoFiles: config.geo,
    now: Date.now,
    newId: createOrderedIds(Date.now),
  });
  const plans = await settings.open(createPlansSetting(store.settings));
  const pac = await settings.open(createPacSetting(store.settings));
  const whitelist = await settings.open(createWhitelistSetting(store.settings));
  const passwords = createPeoplePasswords(config.admin.signInChecks);
  const credentials = await settings.open(createAdminCredentials({ settings: store.settings, passwords }));
  return {
    store,
    directory,
    pool,
    accounts,
    /** Usage of accounts; empty until `usage.load()`. */
    usage,
    /** Live sessions; always empty in a command. */
    sessions,
    plans,
    playerLinks: store.playerLinks,
    pac,
    exits,
    whitelist,
    passwords,
    credentials,
    /** Settings that operators change at run time. The daemon reloads those that other processes change. */
    settings,
    /** The zones by which days are counted; the daemon enters that of its configuration. */
    timeZones,
  };
}

/** All daemons of a database count by the zone of the one that started last; the others say so. */
export async function enterTimeZone(deps: PartDeps<'timeZone', 'timeZones' | 'directory'>): Promise<void> {
  const { timeZone } = deps.config;
  const { timeZones, directory } = deps.core;
  // A new database has no other days.
  await timeZones.enter(timeZone, directory.size === 0 ? 0 : deps.now());
  timeZones.onEntered((daysIn) => {
    if (daysIn !== timeZone)
      deps.log.warn({ timeZone, daysIn }, 'days are counted in the time zone of another node');
  });
}
