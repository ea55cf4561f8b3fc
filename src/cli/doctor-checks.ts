// The checks of `pulsegate doctor`, each a small look at the machine with what to do about it.

import { Resolver } from 'node:dns/promises';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import type { Config, Loaded } from '../config.js';
import { StartError } from '../core/errors.js';
import { hasTls } from '../parts/capacity.js';
import { connectionsFor, descriptorLimit } from '../parts/descriptors.js';
import { listenOn, openServer } from '../parts/listen.js';
import { engineHere, workerCount } from '../parts/proxy.js';
import { checkCertificate } from './doctor-certificate.js';
import { checkDatabase, checkDriver, isLoopback } from './doctor-database.js';
import { checkDisk } from './doctor-disk.js';
import type { Finding } from './doctor-finding.js';

/** Makes every check. Nothing is changed: where there is no data folder or database yet, none is made. */
export async function examine(loaded: Loaded): Promise<Finding[]> {
  const { config } = loaded;
  const findings = await Promise.all([
    checkNode(),
    checkUser(),
    checkDescriptors(config),
    checkDataDir(config),
    checkDisk(config.dataDir),
    checkDriver(loaded.config),
    checkEngine(config),
    checkDatabase(loaded),
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

/** One that is too old has not come as far as this: bin/pulsegate.js refuses it. */
function checkNode(): Finding {
  return { check: 'node', state: 'ok', text: process.version };
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
  const room = connectionsFor(limit, hasTls(socks));
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

/** What the native engine holds and this one does not. */
const NODE_BOUND = 'on it a flood of UDP datagrams to one account delays the others';

function checkEngine({ socks }: Config): Finding {
  const check = 'engine';
  const here = engineHere(socks.engine);
  if (here.name === 'native') {
    const workers = workerCount(socks.workers);
    return { check, state: 'ok', text: `native, ${workers} ${workers === 1 ? 'worker' : 'workers'}` };
  }
  if (here.reason === null) return { check, state: 'ok', text: `node, as socks.engine says; ${NODE_BOUND}` };
  const text = `native does not work here (${here.reason}); install the optional package koffi`;
  if (socks.engine === 'native') return { check, state: 'stop', text: `socks.engine: ${text}` };
  return { check, state: 'warn', text: `node: ${text} on Linux for a faster one; ${NODE_BOUND}` };
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

async function checkPort(config: Config, name: 'socks' | 'admin'): Promise<Finding> {
  const { host: hosts, port } = config[name];
  const check = `${name} port`;
  try {
    const { close, addresses } = await listenOn({
      name,
      hosts,
      port,
      open: (where, isDualStack) => openServer(createServer(), where, isDualStack),
    });
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
