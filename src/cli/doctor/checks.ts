// The checks of `pulsegate doctor`. Each returns findings with advice.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config, Loaded } from '../../config.js';
import { coveringPorts } from '../../core/egress/egress-entry.js';
import { connectionsFor, descriptorLimit, hasTls, lowAddressSpace } from '../../parts/capacity.js';
import { engineHere, workerCount } from '../../parts/players/engine.js';
import { checkCertificate } from './certificate.js';
import { checkDatabase, checkDatabasePackage, isLoopback } from './database.js';
import { checkDisk } from './disk.js';
import { checkFiles } from './files.js';
import type { Finding } from './finding.js';
import { checkConntrack, checkDns, checkIpv6, checkLocalPorts } from './network.js';
import { checkPort } from './port.js';
import { checkVersion } from './version.js';

/** Runs all checks. Changes nothing: creates neither a data folder nor a database. */
export async function examine(loaded: Loaded): Promise<Finding[]> {
  const { config } = loaded;
  const findings = await Promise.all([
    checkVersion(config, Date.now()),
    checkNode(),
    checkUser(),
    checkDescriptors(config),
    checkAddressSpace(),
    checkDataDir(config),
    checkDisk(config.dataDir),
    checkDatabasePackage(loaded.config),
    checkEngine(config),
    checkDatabase(loaded),
    checkPort(config, 'socks'),
    checkPort(config, 'admin'),
    checkCertificate(config, Date.now()),
    checkFiles(loaded),
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

function checkAddressSpace(): Finding[] {
  const limit = lowAddressSpace();
  if (limit === null) return [];
  const text = `the limit of ${limit} bytes is too low for V8; raise it to 4 GiB or more (LimitAS, ulimit -v)`;
  return [{ check: 'address space', state: 'warn', text }];
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

function checkEgress({ egress, socks }: Config): Finding[] {
  if (socks.host.every(isLoopback)) return [];
  const check = 'egress';
  const isOpen = (ports = egress.denyPorts): boolean => coveringPorts(ports, [25, 25]) === undefined;
  const classes = Object.keys(egress.classes).filter((name) => isOpen(egress.classes[name]?.denyPorts));
  const open =
    'egress.denyPorts has no smtp: spam of one account, by port 25, gets this machine onto block lists';
  const denied = `port 25 is denied${classes.map((name, i) => `${i > 0 ? ',' : ', except for accounts of'} ${name}`).join('')}`;
  const findings: Finding[] = [
    isOpen() ? { check, state: 'warn', text: open } : { check, state: 'ok', text: denied },
  ];
  const text =
    'egress.private is allow: every account can reach the private networks of this machine; set it to deny';
  return egress.private === 'deny' ? findings : [...findings, { check, state: 'warn', text }];
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
