// What `pulsegate doctor` says of the database, and of what only the database knows: who may come in, and what holds accounts back.
import { stat } from 'node:fs/promises';
import type { Config, Loaded } from '../config.js';
import type { Account } from '../core/accounts/account.js';
import type { AccountLimits } from '../core/accounts/limits.js';
import { StartError } from '../core/errors.js';
import { inCidr, parseCidr, parseIp } from '../core/ip.js';
import type { Finding } from './doctor-finding.js';
import { withCoreIfThere } from './store.js';

/** Whether the package that reads the database can be loaded: also where there is no database yet. */
export async function checkDriver({ database }: Config): Promise<Finding> {
  // With PostgreSQL it still locks the data folder.
  const check = database.client === 'pg' ? 'sqlite3' : database.client;
  const { loadDriver } = await import('../store/sqlite-driver.js');
  try {
    loadDriver(check);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { check, state: 'stop', text: error.message };
  }
  return { check, state: 'ok', text: 'loads' };
}

/** Also who may reach the admin API, which only the database knows. */
export async function checkDatabase(loaded: Loaded): Promise<Finding[]> {
  const { config } = loaded;
  const isPg = config.database.client === 'pg';
  const isMade = isPg || (await stat(`${config.dataDir}/pulsegate.db`).catch(() => null));
  if (!isMade) return [exposure(config, '')];
  try {
    const found = await withCoreIfThere(loaded, async ({ accounts, whitelist }) => {
      const known = accounts.list().map(({ account }) => account);
      const unlimited = known.filter(({ limits }) => !isLimited(limits));
      return [
        { check: 'database', state: 'ok', text: `opens; ${known.length} accounts` } as const,
        exposure(config, whitelist.text()),
        ...openToTheWorld(config, known.length, unlimited.length),
        ...clockBehindDatabase(known),
      ];
    });
    const empty = { check: 'database', state: 'ok', text: 'opens; the tables will be made' } as const;
    return found ?? [...(isPg ? [empty] : []), exposure(config, '')];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    // Reported by a check of its own.
    if (error.code === 'database-client-unusable') return [exposure(config, '')];
    return [{ check: 'database', state: 'stop', text: error.message }];
  }
}

/** Whether something holds an account back: one that leaks then costs no more than that. */
function isLimited({
  maxSessions,
  maxClientAddresses,
  bytesPerSecondDown,
  quotaBytes,
}: AccountLimits): boolean {
  return [maxSessions, maxClientAddresses, bytesPerSecondDown, quotaBytes].some((limit) => limit !== null);
}

function openToTheWorld({ socks }: Config, accounts: number, unlimited: number): Finding[] {
  const hosts = [socks.host, ...socks.listeners.map(({ host }) => host ?? [])].flat();
  const open = [...new Set(hosts.filter((host) => !isLoopback(host)))];
  if (open.length === 0 || accounts === 0) return [];
  const check = 'limits';
  if (unlimited === 0) return [{ check, state: 'ok', text: 'every account has some' }];
  const text = `${unlimited} of ${accounts} accounts have none, and ${open.join(', ')} is open to the world: a leaked password is an open proxy`;
  return [{ check, state: 'warn', text: `${text}; set maxSessions, maxClientAddresses or a quota` }];
}

/** A minute of difference is no mistake of the clock: another machine may have written the database. */
const CLOCK_TOLERANCE_MS = 60_000;

function clockBehindDatabase(known: readonly Account[]): Finding[] {
  const newest = known.reduce(
    (latest, { createdAt, lastLoginAt }) => Math.max(latest, createdAt, lastLoginAt ?? 0),
    0,
  );
  if (newest <= Date.now() + CLOCK_TOLERANCE_MS) return [];
  const text = `the database knows of ${new Date(newest).toISOString()}, which is still to come; set the clock (NTP)`;
  return [{ check: 'clock', state: 'warn', text }];
}

function exposure({ admin }: Config, whitelist: string): Finding {
  const check = 'admin exposure';
  const open = admin.host.filter((host) => !isLoopback(host));
  if (open.length === 0) return { check, state: 'ok', text: 'loopback only' };
  const where = `admin.host ${open.join(', ')} is reachable from outside`;
  const isForAll = whitelist.trim() === '' || whitelist.split(/[,，\s]+/).includes('*');
  if (admin.tls.cert !== null) {
    if (!isForAll) return { check, state: 'ok', text: `${where}, over HTTPS, for the whitelist` };
    return { check, state: 'warn', text: `${where} and the whitelist is empty; pulsegate whitelist set` };
  }
  if (isForAll) {
    return {
      check,
      state: 'warn',
      text: `${where} without TLS and the whitelist is empty; pulsegate whitelist set, and admin.tls or a reverse proxy with TLS`,
    };
  }
  return {
    check,
    state: 'warn',
    text: `${where} without TLS; set admin.tls, or put a reverse proxy with TLS before it`,
  };
}

const LOOPBACK_V4 = parseCidr('127.0.0.0/8');

export function isLoopback(host: string): boolean {
  const ip = parseIp(host);
  return (
    host === 'localhost' || host === '::1' || (ip !== null && LOOPBACK_V4 !== null && inCidr(ip, LOOPBACK_V4))
  );
}
