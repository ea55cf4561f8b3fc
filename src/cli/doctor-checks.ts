// The checks of `pulsegate doctor`. Each returns findings with advice.

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
import { checkFiles } from './doctor-files.js';
import type { Finding } from './doctor-finding.js';
import { checkVersion } from './doctor-version.js';

/** Runs all checks. Changes nothing: creates neither a data folder nor a database. */
export async function examine(loaded: Loaded): Promise<Finding[]> {
  const { config } = loaded;
  const findings = await Promise.all([
    checkVersion(config, Date.now()),
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
    checkFiles(config),
    checkDns(config),
    checkIpv6(),
    checkLocalPorts(),
    checkConntrack(),
    checkEgress(config),
    checkClock(),
  ]);
  return findings.flat();
}

/** Always ok: bin/pulsegate.js refuses a Node that is too old before this runs. */
function checkNode(): Finding {
  return { check: 'node', state: 'ok', text: process.version };
}

function checkUser(): Finding[] {
  if (process.geteuid?.() !== 0) return [];
  return [
    {
      check: 'user',
      state: 'warn',
      text: 'running as root; run the daemon as a dedicated user (systemd/pulsegate.service does)',
    },
  ];
}

const ENOUGH_DESCRIPTORS = 8192;

function checkDescriptors({ socks }: Config): Finding {
  const limit = descriptorLimit();
  const supported = connectionsFor(limit, hasTls(socks));
  const check = 'descriptors';
  if (socks.maxConnections !== 'auto' && socks.maxConnections > supported) {
    const text = `the limit of ${limit} is enough for ${supported} connections, but socks.maxConnections is ${socks.maxConnections}`;
    return { check, state: 'warn', text: `${text}; raise it (LimitNOFILE, ulimit -n)` };
  }
  const text = `the limit of ${limit} is enough for ${supported} connections`;
  if (limit < ENOUGH_DESCRIPTORS)
    return { check, state: 'warn', text: `${text}; raise it (LimitNOFILE, ulimit -n)` };
  return { check, state: 'ok', text };
}

/** The known limitation of the node engine. */
const NODE_LIMITATION = 'with it, a flood of UDP datagrams to one account delays the others';

function checkEngine({ socks }: Config): Finding {
  const check = 'engine';
  const here = engineHere(socks.engine);
  if (here.name === 'native') {
    const workers = workerCount(socks.workers);
    return { check, state: 'ok', text: `native, ${workers} ${workers === 1 ? 'worker' : 'workers'}` };
  }
  if (here.reason === null)
    return { check, state: 'ok', text: `node, set by socks.engine; ${NODE_LIMITATION}` };
  const text = `the native engine is not available (${here.reason}); install the optional package koffi`;
  if (socks.engine === 'native') return { check, state: 'stop', text: `socks.engine: ${text}` };
  return { check, state: 'warn', text: `node: ${text} on Linux for higher speed; ${NODE_LIMITATION}` };
}

async function checkDataDir({ dataDir }: Config): Promise<Finding> {
  const check = 'data folder';
  const found = await stat(dataDir).catch(() => null);
  if (!found) {
    const parent = await nearestExistingFolder(dirname(dataDir));
    if (await mayWrite(parent)) return { check, state: 'ok', text: `${dataDir} will be created` };
    return { check, state: 'stop', text: `cannot create ${dataDir}: no write permission in ${parent}` };
  }
  if (!found.isDirectory()) return { check, state: 'stop', text: `${dataDir} is not a directory` };
  if (!(await mayWrite(dataDir))) return { check, state: 'stop', text: `no write permission in ${dataDir}` };
  if (found.mode & 0o077)
    return { check, state: 'warn', text: `other users can access ${dataDir}; run chmod 700 ${dataDir}` };
  return { check, state: 'ok', text: dataDir };
}

async function nearestExistingFolder(folder: string): Promise<string> {
  const exists = await stat(folder).catch(() => null);
  return exists || folder === dirname(folder) ? folder : nearestExistingFolder(dirname(folder));
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
    return { check, state: 'ok', text: port === 0 ? 'any free port' : `${addresses.join(', ')} free` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    if (error.code === 'port-in-use' && (await isPulsegate(config)))
      return { check, state: 'ok', text: `${port} in use by the running daemon` };
    return { check, state: 'stop', text: error.message };
  }
}

const PROBE_MS = 2000;

/** Whether a Pulsegate listens on the admin port: its 401 response names the realm. */
function isPulsegate({ admin }: Config): Promise<boolean> {
  const host = admin.host[0] === '0.0.0.0' ? '127.0.0.1' : admin.host[0] === '::' ? '::1' : admin.host[0];
  // The certificate is not verified: the request sends no credentials and reads only the realm.
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

/** Errors that mean that no server answered. NXDOMAIN is not one: it is an answer. */
const NO_ANSWER = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EREFUSED', 'ESERVFAIL', 'EBADRESP']);

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
  if (failure && NO_ANSWER.has(failure)) {
    return {
      check,
      state: 'warn',
      text: `${servers}: no answer (${failure}); host names cannot be resolved; set dns.servers`,
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
  if (isGlobal) return { check, state: 'ok', text: 'this machine has a global IPv6 address' };
  return {
    check,
    state: 'warn',
    text: 'no global IPv6 address: IPv6 destinations are not reachable',
  };
}

const ENOUGH_PORTS = 10_000;

async function checkLocalPorts(): Promise<Finding[]> {
  const [first, last] = await readNumbers('/proc/sys/net/ipv4/ip_local_port_range');
  if (first === undefined || last === undefined) return [];
  const count = last - first + 1;
  const text = `${count} local ports for connections to one destination (${first} to ${last})`;
  if (count >= ENOUGH_PORTS) return [{ check: 'local ports', state: 'ok', text }];
  return [
    {
      check: 'local ports',
      state: 'warn',
      text: `${text}; run sysctl -w net.ipv4.ip_local_port_range="10240 65535"`,
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
      text: `${text}; a full table drops packets: raise net.netfilter.nf_conntrack_max`,
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
    'egress.private is allow: every account can reach the private networks of this machine; set it to deny';
  return [{ check: 'egress', state: 'warn', text }];
}

/** A clock that is behind lets expired accounts log in. */
async function checkClock(): Promise<Finding> {
  const { mtimeMs } = await stat(new URL(import.meta.url));
  const now = new Date().toISOString();
  if (Date.now() < mtimeMs)
    return {
      check: 'clock',
      state: 'warn',
      text: `${now} is earlier than the installation of this program; set the clock (NTP)`,
    };
  return { check: 'clock', state: 'ok', text: now };
}
