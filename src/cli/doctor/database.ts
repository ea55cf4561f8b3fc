// `pulsegate doctor`: checks the database, and the findings that need it: admin whitelist, account limits, clock.
import { stat } from 'node:fs/promises';
import { type Config, ConfigError, type Loaded } from '../../config.js';
import { lacksGeoFile } from '../../core/accounts/access/allowed-clients.js';
import type { Account } from '../../core/accounts/account.js';
import type { AccountLimits } from '../../core/accounts/usage/limits.js';
import { operatorSettingsPrefix } from '../../core/auth/operator.js';
import { sealedWith, totpKeyFingerprint } from '../../core/auth/totp.js';
import { StartError } from '../../core/errors.js';
import { inCidr, parseCidr, parseIp } from '../../core/ip.js';
import { LOST_GEO } from '../../parts/geo.js';
import { openTotpKeys } from '../../parts/totp-key.js';
import type { Store } from '../../store/store.js';
import { withExistingCore } from '../shared/store.js';
import type { Finding } from './finding.js';

/** Checks that a SQLite package loads, and names it, even if no database exists yet. */
export async function checkDatabasePackage({ database }: Config): Promise<Finding> {
  const check = 'database package';
  const { sqlitePackage } = await import('../../store/sqlite/package.js');
  try {
    // With PostgreSQL, SQLite still locks the data folder.
    const { name, unusable } = sqlitePackage(database.client === 'pg' ? 'auto' : database.client);
    const others = Object.entries(unusable).map(([other, reason]) => `; not ${other}: ${reason}`);
    return { check, state: 'ok', text: `${name} loads${others.join('')}` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { check, state: 'stop', text: error.message };
  }
}

/** Checks the database, and everything that is stored in it. */
export async function checkDatabase(loaded: Loaded): Promise<Finding[]> {
  const { config } = loaded;
  const isPg = config.database.client === 'pg';
  const exists = isPg || (await stat(`${config.dataDir}/pulsegate.db`).catch(() => null));
  if (!exists) return [checkAdminExposure(config, '')];
  try {
    const found = await withExistingCore(loaded, async ({ accounts, whitelist, store }) => {
      const known = accounts.list().map(({ account }) => account);
      const unlimited = known.filter(({ limits }) => !isLimited(limits));
      return [
        { check: 'database', state: 'ok', text: `opens; ${known.length} accounts` } as const,
        checkAdminExposure(config, whitelist.text()),
        ...checkAccountLimits(config, known.length, unlimited.length),
        ...checkGeo(config, known),
        ...checkClockAgainstDatabase(known),
        ...(await checkTotpKey(config, store)),
      ];
    });
    const empty = { check: 'database', state: 'ok', text: 'opens; the tables will be created' } as const;
    return found ?? [...(isPg ? [empty] : []), checkAdminExposure(config, '')];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    // checkDatabasePackage reports this.
    if (error.code === 'database-client-unusable') return [checkAdminExposure(config, '')];
    return [{ check: 'database', state: 'stop', text: error.message }];
  }
}

/** Whether an account has a limit that bounds the damage of a leaked password. */
function isLimited({
  maxSessions,
  maxClientAddresses,
  bytesPerSecondDown,
  quotaBytes,
}: AccountLimits): boolean {
  return [maxSessions, maxClientAddresses, bytesPerSecondDown, quotaBytes].some((limit) => limit !== null);
}

function checkAccountLimits({ socks }: Config, accounts: number, unlimited: number): Finding[] {
  const hosts = [socks.host, ...socks.listeners.map(({ host }) => host ?? [])].flat();
  const open = [...new Set(hosts.filter((host) => !isLoopback(host)))];
  if (open.length === 0 || accounts === 0) return [];
  const check = 'limits';
  if (unlimited === 0) return [{ check, state: 'ok', text: 'every account has limits' }];
  const text = `${unlimited} of ${accounts} accounts have no limits, and ${open.join(', ')} is reachable from outside: a leaked password is an open proxy`;
  return [{ check, state: 'warn', text: `${text}; set maxSessions, maxClientAddresses or a quota` }];
}

function checkGeo({ geo }: Config, known: readonly Account[]): Finding[] {
  const lost = known.filter((account) => lacksGeoFile(account, geo)).length;
  if (lost === 0) return [];
  return [{ check: 'countries', state: 'warn', text: `${lost} of ${known.length} accounts: ${LOST_GEO}` }];
}

/** Checks whether the daemon can read the second factors. A systemd credential is there for the daemon only. */
async function checkTotpKey(
  config: Config,
  { settings, operators }: Pick<Store, 'settings' | 'operators'>,
): Promise<Finding[]> {
  const check = 'second factors';
  const people = (await operators.all()).map(({ id, name }) => ({
    name,
    prefix: operatorSettingsPrefix(id),
  }));
  const texts = await Promise.all(
    [{ name: 'the administrator', prefix: 'admin' }, ...people].map(async ({ name, prefix }) => ({
      name,
      text: (await settings.get(`${prefix}.totp`)) ?? '',
    })),
  );
  const enabled = texts.filter(({ text }) => text !== '');
  if (enabled.length === 0) return [];
  let key: Buffer | null;
  try {
    key = (await openTotpKeys(config)).key();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ check, state: 'stop', text: error.message }];
  }
  const present = key && totpKeyFingerprint(key);
  const wrong = enabled.filter(({ text }) => ![null, present].includes(sealedWith(text)));
  if (wrong.length > 0) {
    const names = wrong.map(({ name, text }) => `${name} (${sealedWith(text)})`).join(', ');
    const here = present === null ? 'there is no key here' : `the key here is ${present}`;
    const text = `encrypted with another key: ${names}; ${here}. Put the key back (admin.totpKeyFile, dataDir/totp-key, or the systemd credential totp-key, which only the daemon sees), or run pulsegate admin second-factor-off or operator second-factor-off`;
    return [{ check, state: 'warn', text }];
  }
  if (config.database.client !== 'pg' || present !== null) return [{ check, state: 'ok', text: 'readable' }];
  const text = 'stored without encryption: give every node the same key with admin.totpKeyFile';
  return [{ check, state: 'warn', text }];
}

/** Tolerated difference, in ms: another machine with its own clock may have written the database. */
const CLOCK_TOLERANCE_MS = 60_000;

function checkClockAgainstDatabase(known: readonly Account[]): Finding[] {
  const newest = known.reduce(
    (latest, { createdAt, lastLoginAt }) => Math.max(latest, createdAt, lastLoginAt ?? 0),
    0,
  );
  if (newest <= Date.now() + CLOCK_TOLERANCE_MS) return [];
  const text = `the database contains the time ${new Date(newest).toISOString()}, which is in the future; set the clock (NTP)`;
  return [{ check: 'clock', state: 'warn', text }];
}

function checkAdminExposure({ admin }: Config, whitelist: string): Finding {
  const check = 'admin exposure';
  const open = admin.host.filter((host) => !isLoopback(host));
  if (open.length === 0) return { check, state: 'ok', text: 'loopback only' };
  const where = `admin.host ${open.join(', ')} is reachable from outside`;
  const isForAll = whitelist.trim() === '' || whitelist.split(/[,，\s]+/).includes('*');
  if (admin.tls.cert !== null) {
    if (!isForAll) return { check, state: 'ok', text: `${where} over HTTPS, restricted by the whitelist` };
    return { check, state: 'warn', text: `${where} and the whitelist is empty; use pulsegate whitelist set` };
  }
  if (isForAll) {
    return {
      check,
      state: 'warn',
      text: `${where} without TLS and the whitelist is empty; use pulsegate whitelist set, and admin.tls or a reverse proxy with TLS`,
    };
  }
  return {
    check,
    state: 'warn',
    text: `${where} without TLS; set admin.tls or use a reverse proxy with TLS`,
  };
}

const LOOPBACK_V4 = parseCidr('127.0.0.0/8');

export function isLoopback(host: string): boolean {
  const ip = parseIp(host);
  return (
    host === 'localhost' || host === '::1' || (ip !== null && LOOPBACK_V4 !== null && inCidr(ip, LOOPBACK_V4))
  );
}
