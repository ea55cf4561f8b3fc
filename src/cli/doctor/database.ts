// `pulsegate doctor`: checks the database, and what needs it: admin whitelist, account limits, clock, second factors.
import { stat } from 'node:fs/promises';
import { type Config, ConfigError, type Loaded } from '../../config.js';
import { lacksGeoFile } from '../../core/accounts/access/address-list.js';
import type { Account } from '../../core/accounts/account.js';
import { operatorSettingsPrefix } from '../../core/auth/operator.js';
import { sealedWith, sealKeyFingerprint } from '../../core/auth/sealed.js';
import { StartError } from '../../core/errors.js';
import { openTotpKeys } from '../../parts/auth.js';
import { LOST_GEO } from '../../parts/geo.js';
import type { Store } from '../../store/store.js';
import { withExistingCore } from '../shared/run.js';
import { type Found, ok, stop, warn } from './finding.js';
import { isLoopback } from './network.js';

/** Checks that a SQLite package loads, and names it, even if no database exists yet. */
export async function checkDatabasePackage({ database }: Config): Promise<Found> {
  const { sqlitePackage } = await import('../../store/sqlite/package.js');
  try {
    // With PostgreSQL, SQLite still locks the data folder.
    const { name, unusable } = sqlitePackage(database.client === 'pg' ? 'auto' : database.client);
    const others = Object.entries(unusable).map(([other, reason]) => `; not ${other}: ${reason}`);
    return ok(`${name} loads${others.join('')}`);
  } catch (error) {
    if (error instanceof StartError) return stop(error.message);
    throw error;
  }
}

export async function checkDatabase(loaded: Loaded): Promise<Found[]> {
  const { config } = loaded;
  const isPg = config.database.client === 'pg';
  const exists = isPg || (await stat(`${config.dataDir}/pulsegate.db`).catch(() => null));
  if (!exists) return [adminExposure(config, '')];
  try {
    const found = await withExistingCore(loaded, async ({ accounts, whitelist, store }) => {
      const known = accounts.list().map(({ account }) => account);
      return [
        ok(`opens; ${known.length} accounts`),
        adminExposure(config, whitelist.text()),
        ...accountLimits(config, known),
        ...countries(config, known),
        ...clockAgainstDatabase(known),
        ...(await totpKey(config, store)).map((each) => ({ check: 'second factors', ...each })),
      ];
    });
    return found ?? [...(isPg ? [ok('opens; the tables will be created')] : []), adminExposure(config, '')];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    // checkDatabasePackage reports this.
    if (error.code === 'database-client-unusable') return [adminExposure(config, '')];
    return [stop(error.message)];
  }
}

/** Any of them bounds the damage of a leaked password. */
const BOUNDS = ['maxSessions', 'maxClientAddresses', 'bytesPerSecondDown', 'quotaBytes'] as const;

function accountLimits({ socks }: Config, known: readonly Account[]): Found[] {
  const hosts = [socks.host, ...socks.listeners.map(({ host }) => host ?? [])].flat();
  const open = [...new Set(hosts.filter((host) => !isLoopback(host)))];
  if (open.length === 0 || known.length === 0) return [];
  const check = 'limits';
  const unlimited = known.filter(({ limits }) => BOUNDS.every((name) => limits[name] === null)).length;
  if (unlimited === 0) return [{ check, ...ok('every account has limits') }];
  const text = `${unlimited} of ${known.length} accounts have no limits, and ${open.join(', ')} is reachable from outside: a leaked password is an open proxy`;
  return [{ check, ...warn(`${text}; set maxSessions, maxClientAddresses or a quota`) }];
}

function countries({ geo }: Config, known: readonly Account[]): Found[] {
  const lost = known.filter((account) => lacksGeoFile(account, geo)).length;
  if (lost === 0) return [];
  return [{ check: 'countries', ...warn(`${lost} of ${known.length} accounts: ${LOST_GEO}`) }];
}

/** Checks whether the daemon can read the second factors. A systemd credential is there for the daemon only. */
async function totpKey(
  config: Config,
  { settings, operators }: Pick<Store, 'settings' | 'operators'>,
): Promise<Found[]> {
  const people = (await operators.all()).map(({ id, name }) => [name, operatorSettingsPrefix(id)] as const);
  const enabled: { name: string; text: string }[] = [];
  for (const [name, prefix] of [['the administrator', 'admin'] as const, ...people]) {
    const text = await settings.get(`${prefix}.totp`);
    if (text) enabled.push({ name, text });
  }
  if (enabled.length === 0) return [];
  let key: Buffer | null;
  try {
    key = (await openTotpKeys(config)).key();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [stop(error.message)];
  }
  const present = key && sealKeyFingerprint(key);
  const wrong = enabled.filter(({ text }) => ![null, present].includes(sealedWith(text)));
  if (wrong.length > 0) {
    const names = wrong.map(({ name, text }) => `${name} (${sealedWith(text)})`).join(', ');
    const here = present === null ? 'there is no key here' : `the key here is ${present}`;
    return [
      warn(
        `encrypted with another key: ${names}; ${here}. Put the key back (admin.totpKeyFile, dataDir/totp-key, or the systemd credential totp-key, which only the daemon sees), or run pulsegate admin second-factor-off or operator second-factor-off`,
      ),
    ];
  }
  if (config.database.client !== 'pg' || present !== null) return [ok('readable')];
  return [warn('stored without encryption: give every node the same key with admin.totpKeyFile')];
}

/** Tolerated difference, in ms: another machine with its own clock may have written the database. */
const CLOCK_TOLERANCE_MS = 60_000;

function clockAgainstDatabase(known: readonly Account[]): Found[] {
  const newest = known.reduce(
    (latest, { createdAt, lastLoginAt }) => Math.max(latest, createdAt, lastLoginAt ?? 0),
    0,
  );
  if (newest <= Date.now() + CLOCK_TOLERANCE_MS) return [];
  const text = `the database contains the time ${new Date(newest).toISOString()}, which is in the future; set the clock (NTP)`;
  return [{ check: 'clock', ...warn(text) }];
}

function adminExposure({ admin }: Config, whitelist: string): Found {
  const check = 'admin exposure';
  const open = admin.host.filter((host) => !isLoopback(host));
  if (open.length === 0) return { check, ...ok('loopback only') };
  const where = `admin.host ${open.join(', ')} is reachable from outside`;
  const isForAll = whitelist.trim() === '' || whitelist.split(/[,，\s]+/).includes('*');
  const hasTls = admin.tls.cert !== null;
  if (hasTls && !isForAll) return { check, ...ok(`${where} over HTTPS, restricted by the whitelist`) };
  const fault = `${where}${hasTls ? '' : ' without TLS'}${isForAll ? ' and the whitelist is empty' : ''}`;
  const advice = [
    ...(isForAll ? ['use pulsegate whitelist set'] : []),
    ...(hasTls ? [] : ['set admin.tls or use a reverse proxy with TLS']),
  ];
  return { check, ...warn(`${fault}; ${advice.join(', and ')}`) };
}
