// The checks of `pulsegate doctor`, each a small look at the machine with what to do about it.

import { Resolver } from 'node:dns/promises';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import type { Config } from '../config.js';
import type { Account } from '../core/accounts/account.js';
import { type AccountLimits, NO_LIMITS } from '../core/accounts/limits.js';
import { StartError } from '../core/errors.js';
import { inCidr, parseCidr, parseIp } from '../core/ip.js';
import { connectionsFor, descriptorLimit } from '../wiring/descriptors.js';
import { listenOn } from '../wiring/listen.js';
import { checkCertificate } from './doctor-certificate.js';
import { checkDisk } from './doctor-disk.js';
import type { Finding } from './doctor-finding.js';
import { withCore } from './store.js';

/** Makes every check. Nothing is changed: where there is no data folder or database yet, none is made. */
export async function examine(config: Config): Promise<Finding[]> {
  const findings = await Promise.all([
    checkNode(),
    checkUser(),
    checkDescriptors(config),
    checkDataDir(config),
    checkDisk(config.dataDir),
    checkDatabase(config),
    checkPort(config, 'socks'),
    checkPort(config, 'admin'),
    checkCertificate(config, Date.now()),
    checkDns(config),
    checkIpv6(),
    checkLocalPorts(),
    checkConntrack(),
    checkEgress(config),
    checkClock(),
  ]);
  return findings.flat();
}

const LEAST_NODE = [20, 19];

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST_NODE;
  const isEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  const check = 'node';
  if (!isEnough)
    return {
      check,
      state: 'stop',
      text: `${process.version} is too old; install ${LEAST_NODE.join('.')} or newer`,
    };
  return { check, state: 'ok', text: process.version };
}

function checkUser(): Finding[] {
  if (process.geteuid?.() !== 0) return [];
  return [
    {
      check: 'user',
      state: 'warn',
      text: 'this is root; run the daemon as a user of its own (systemd/pulsegate.service does)',
    },
  ];
}

const ENOUGH_DESCRIPTORS = 8192;

function checkDescriptors({ socks }: Config): Finding {
  const limit = descriptorLimit();
  const room = connectionsFor(limit);
  const check = 'descriptors';
  if (socks.maxConnections !== 'auto' && socks.maxConnections > room) {
    const text = `the limit of ${limit} has room for ${room} connections, but socks.maxConnections is ${socks.maxConnections}`;
    return { check, state: 'warn', text: `${text}; raise it (LimitNOFILE, ulimit -n)` };
  }
  const text = `the limit of ${limit} has room for ${room} connections`;
  if (limit < ENOUGH_DESCRIPTORS)
    return { check, state: 'warn', text: `${text}; raise it (LimitNOFILE, ulimit -n)` };
  return { check, state: 'ok', text };
}

async function checkDataDir({ dataDir }: Config): Promise<Finding> {
  const check = 'data folder';
  const found = await stat(dataDir).catch(() => null);
  if (!found) {
    const parent = await nearestFolder(dirname(dataDir));
    if (await mayWrite(parent)) return { check, state: 'ok', text: `${dataDir} will be made` };
    return { check, state: 'stop', text: `${dataDir} cannot be made: this user may not write in ${parent}` };
  }
  if (!found.isDirectory()) return { check, state: 'stop', text: `${dataDir} is not a folder` };
  if (!(await mayWrite(dataDir)))
    return { check, state: 'stop', text: `this user may not write in ${dataDir}` };
  if (found.mode & 0o077)
    return { check, state: 'warn', text: `${dataDir} is open to other users; chmod 700 ${dataDir}` };
  return { check, state: 'ok', text: dataDir };
}

async function nearestFolder(folder: string): Promise<string> {
  const isThere = await stat(folder).catch(() => null);
  return isThere || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));
}

function mayWrite(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Also who may reach the management plane, which only the database knows. */
async function checkDatabase(config: Config): Promise<Finding[]> {
  const isMade = await stat(`${config.dataDir}/pulsegate.db`).catch(() => null);
  if (!isMade) return [exposure(config, '')];
  try {
    return await withCore(config, async ({ accounts, whitelist, store }) => {
      const known = accounts.list().map(({ account }) => account);
      const limited = new Map((await store.limits.all()).map(({ accountId, limits }) => [accountId, limits]));
      const unlimited = known.filter(({ id }) => !isLimited(limited.get(id) ?? NO_LIMITS));
      return [
        { check: 'database', state: 'ok', text: `opens; ${known.length} accounts` },
        exposure(config, whitelist.text()),
        ...openToTheWorld(config, known.length, unlimited.length),
        ...clockBehindDatabase(known),
      ];
    });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
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

function isLoopback(host: string): boolean {
  const ip = parseIp(host);
  return (
    host === 'localhost' || host === '::1' || (ip !== null && LOOPBACK_V4 !== null && inCidr(ip, LOOPBACK_V4))
  );
}

async function checkPort(config: Config, name: 'socks' | 'admin'): Promise<Finding> {
  const { host: hosts, port } = config[name];
  const check = `${name} port`;
  try {
    const { close, addresses } = await listenOn({ name, hosts, port, createServer });
    close();
    return { check, state: 'ok', text: port === 0 ? 'any free one' : `${addresses.join(', ')} free` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    if (error.code === 'port-in-use' && (await isOurs(config)))
      return { check, state: 'ok', text: `${port} in use by the running daemon` };
    return { check, state: 'stop', text: error.message };
  }
}

const PROBE_MS = 2000;

/** Whether a Pulsegate answers on the admin port: its realm is named in every refusal without credentials. */
function isOurs({ admin }: Config): Promise<boolean> {
  const host = admin.host[0] === '0.0.0.0' ? '127.0.0.1' : admin.host[0] === '::' ? '::1' : admin.host[0];
  // It is only asked for its name, and given nothing: whoever the certificate is for.
  const get = admin.tls.cert === null ? getPlain : getOverTls;
  const path = '/ProxyAccount/GetProxyAccountList';
  return new Promise((resolve) => {
    const request = get(
      { host, port: admin.port, path, timeout: PROBE_MS, rejectUnauthorized: false },
      (response) => {
        response.resume();
        resolve(/realm="Pulsegate"/.test(response.headers['www-authenticate'] ?? ''));
      },
    );
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', () => resolve(false));
  });
}

/** Any answer will do, also "no such name": it is the silence that players would feel. */
const SILENT = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EREFUSED', 'ESERVFAIL', 'EBADRESP']);

async function checkDns({ dns }: Config): Promise<Finding> {
  const check = 'dns';
  const resolver = new Resolver({ timeout: Math.min(dns.timeoutMs, 3000), tries: 1 });
  if (dns.servers.length > 0) resolver.setServers(dns.servers);
  const servers = resolver.getServers().join(', ') || 'none';
  const startedAt = performance.now();
  const failure = await resolver.resolve4('example.com').then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (failure && SILENT.has(failure)) {
    return {
      check,
      state: 'warn',
      text: `${servers}: no answer (${failure}); names cannot be resolved; set dns.servers`,
    };
  }
  return {
    check,
    state: 'ok',
    text: `${servers} answers in ${Math.round(performance.now() - startedAt)} ms`,
  };
}

function checkIpv6(): Finding {
  const check = 'ipv6';
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const isGlobal = addresses.some(
    ({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address),
  );
  if (isGlobal) return { check, state: 'ok', text: 'there is an address beyond the local link' };
  return {
    check,
    state: 'warn',
    text: 'no address beyond the local link: IPv6 destinations cannot be reached',
  };
}

const ENOUGH_PORTS = 10_000;

async function checkLocalPorts(): Promise<Finding[]> {
  const [first, last] = await readNumbers('/proc/sys/net/ipv4/ip_local_port_range');
  if (first === undefined || last === undefined) return [];
  const count = last - first + 1;
  const text = `${count} for connections to one destination (${first} to ${last})`;
  if (count >= ENOUGH_PORTS) return [{ check: 'local ports', state: 'ok', text }];
  return [
    {
      check: 'local ports',
      state: 'warn',
      text: `${text}; sysctl net.ipv4.ip_local_port_range="10240 65535"`,
    },
  ];
}

const CONNTRACK_FULL = 0.8;

async function checkConntrack(): Promise<Finding[]> {
  const [most] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_max');
  const [used] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_count');
  if (most === undefined || used === undefined) return [];
  const text = `${used} of ${most} connections tracked`;
  if (used < most * CONNTRACK_FULL) return [{ check: 'conntrack', state: 'ok', text }];
  return [
    {
      check: 'conntrack',
      state: 'warn',
      text: `${text}; beyond that packets are dropped: raise net.netfilter.nf_conntrack_max`,
    },
  ];
}

async function readNumbers(file: string): Promise<number[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split(/\s+/).filter(Boolean).map(Number);
}

function checkEgress({ egress, socks }: Config): Finding[] {
  if (egress.private === 'deny' || socks.host.every(isLoopback)) return [];
  const text =
    'egress.private is allow: whoever has an account reaches the networks of this machine; set it to deny';
  return [{ check: 'egress', state: 'warn', text }];
}

/** Expiry is decided by the clock: one that is behind keeps expired accounts alive. */
async function checkClock(): Promise<Finding> {
  const { mtimeMs } = await stat(new URL(import.meta.url));
  const now = new Date().toISOString();
  if (Date.now() < mtimeMs)
    return {
      check: 'clock',
      state: 'warn',
      text: `${now} is before this program was installed; set the clock (NTP)`,
    };
  return { check: 'clock', state: 'ok', text: now };
}
