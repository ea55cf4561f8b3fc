// The checks of `pulsegate doctor`, in the order in which they are printed, and those of this machine.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { enforcementHere } from '../../agents/confinement/system.js';
import type { Config, Loaded } from '../../config.js';
import { coveringPorts } from '../../core/egress/egress-entry.js';
import { succeeds } from '../../core/errors.js';
import { connectionsFor, descriptorLimit, hasTls, lowAddressSpace } from '../../parts/capacity.js';
import { engineHere, workerCount } from '../../parts/players/engine.js';
import { ageInDays, type Build, isOld, readBuild, readVersion } from '../../program.js';
import { checkDatabase, checkDatabasePackage } from './database.js';
import { checkCertificates, checkFiles, checkSecrets } from './files.js';
import { type Finding, type Found, ok, stop, warn } from './finding.js';
import { checkDns, checkIpv6, checkPort, isLoopback, runningVersion } from './network.js';

type Check = (loaded: Loaded) => Found | readonly Found[] | null | Promise<Found | readonly Found[] | null>;

const CHECKS: Readonly<Record<string, Check>> = {
  version: ({ config }) => checkVersion(config),
  // Always ok: bin/pulsegate.js refuses a Node that is too old before this runs.
  node: () => ok(process.version),
  configuration: ({ warnings }) => warnings.map(warn),
  user: ({ config }) => checkUser(config),
  descriptors: ({ config }) => checkDescriptors(config),
  'address space': checkAddressSpace,
  'data folder': ({ config }) => checkDataDir(config),
  disk: ({ config }) => checkDisk(config.dataDir),
  'database package': ({ config }) => checkDatabasePackage(config),
  engine: ({ config }) => checkEngine(config),
  database: checkDatabase,
  'socks port': ({ config }) => checkPort(config, 'socks'),
  'admin port': ({ config }) => checkPort(config, 'admin'),
  'admin certificate': ({ config }) => checkCertificates(config, Date.now()),
  files: checkFiles,
  secrets: checkSecrets,
  agents: ({ config }) => checkAgents(config),
  dns: ({ config }) => checkDns(config),
  ipv6: checkIpv6,
  'local ports': checkLocalPorts,
  conntrack: checkConntrack,
  egress: ({ config }) => checkEgress(config),
  clock: checkClock,
};

/** Runs all checks. Changes nothing: creates neither a data folder nor a database. */
export async function examine(loaded: Loaded): Promise<Finding[]> {
  const findings = Object.entries(CHECKS).map(async ([check, run]) =>
    [(await run(loaded)) ?? []].flat().map((found) => ({ check, ...found })),
  );
  return (await Promise.all(findings)).flat();
}

/** Compares the installed version with the running one, and says how old it is. It asks nobody outside. */
const checkVersion = async (config: Config): Promise<Found> =>
  versionFinding(readVersion(), await runningVersion(config), readBuild(), Date.now());

/** @param running the version of the running daemon; null: none runs, or it may not be asked @param now in ms */
export function versionFinding(
  installed: string,
  running: string | null,
  build: Build | null,
  now: number,
): Found {
  if (running !== null && running !== installed)
    return warn(`${installed} is installed, ${running} is running: restart the daemon`);
  if (!build) return ok(installed);
  const text = `${installed} of ${build.date.slice(0, 10)}, commit ${build.commit.slice(0, 12)}`;
  if (!isOld(build, now)) return ok(text);
  return warn(`${text}, ${ageInDays(build, now)} days old: look for a newer release`);
}

/** Root may run this beside a daemon of another user: that one counts. */
async function checkUser({ dataDir }: Config): Promise<Found | null> {
  if (process.geteuid?.() !== 0) return null;
  const uid = (await stat(dataDir).catch(() => null))?.uid ?? 0;
  if (uid !== 0) return ok(`the daemon's is ${uid}, the owner of ${dataDir}`);
  const user = await unitUser();
  if (user !== '' && user !== 'root') return ok(`the daemon's is ${user}, by pulsegate.service`);
  return warn('running as root; run the daemon as a dedicated user (systemd/pulsegate.service does)');
}

/** `User=` of the installed unit; empty when there is none. */
async function unitUser(): Promise<string> {
  const show = ['show', '--property=User', '--value', 'pulsegate.service'];
  const shown = await promisify(execFile)('systemctl', show).catch(() => null);
  return shown?.stdout.trim() ?? '';
}

const ENOUGH_DESCRIPTORS = 8192;

function checkDescriptors({ socks }: Config): Found {
  const limit = descriptorLimit();
  const supported = connectionsFor(limit, hasTls(socks));
  const text = `the limit of ${limit} is enough for ${supported} connections`;
  const advice = 'raise it (LimitNOFILE, ulimit -n)';
  if (socks.maxConnections !== 'auto' && socks.maxConnections > supported)
    return warn(`${text}, but socks.maxConnections is ${socks.maxConnections}; ${advice}`);
  return limit < ENOUGH_DESCRIPTORS ? warn(`${text}; ${advice}`) : ok(text);
}

function checkAddressSpace(): Found | null {
  const limit = lowAddressSpace();
  if (limit === null) return null;
  return warn(
    `the limit of ${limit} bytes is too low for V8; raise it to 4 GiB or more (LimitAS, ulimit -v)`,
  );
}

async function checkDataDir({ dataDir }: Config): Promise<Found> {
  const found = await stat(dataDir).catch(() => null);
  if (!found) {
    const parent = nearestExistingFolder(dirname(dataDir));
    if (mayWrite(parent)) return ok(`${dataDir} will be created`);
    return stop(`cannot create ${dataDir}: no write permission in ${parent}`);
  }
  if (!found.isDirectory()) return stop(`${dataDir} is not a directory`);
  if (!mayWrite(dataDir)) return stop(`no write permission in ${dataDir}`);
  if (found.mode & 0o077) return warn(`other users can access ${dataDir}; run chmod 700 ${dataDir}`);
  return ok(dataDir);
}

const nearestExistingFolder = (folder: string): string =>
  existsSync(folder) || folder === dirname(folder) ? folder : nearestExistingFolder(dirname(folder));

const mayWrite = (folder: string): boolean =>
  succeeds(() => accessSync(folder, constants.W_OK | constants.X_OK));

const MIB = 1024 * 1024;
/** Below this, SQLite writes fail: each needs space for the write-ahead log. */
const STOP_BYTES = 16 * MIB;
/** Below this, a busy day or a backup may fill the disk. */
const WARN_BYTES = 512 * MIB;

/** Checks the file system of `dataDir`, which need not exist yet. Null if the system does not report free space. */
export async function checkDisk(dataDir: string): Promise<Found | null> {
  const found = await statfs(dataDir).catch(() => null);
  if (found) return freeSpaceFinding(dataDir, found.bavail * found.bsize);
  return dataDir === dirname(dataDir) ? null : checkDisk(dirname(dataDir));
}

/** @param bytes space available to an unprivileged user */
export function freeSpaceFinding(folder: string, bytes: number): Found {
  const text = `${Math.floor(bytes / MIB)} MiB free in ${folder}`;
  if (bytes < STOP_BYTES) return stop(`${text}: database writes will fail; free disk space`);
  return bytes < WARN_BYTES ? warn(`${text}: low disk space; free disk space`) : ok(text);
}

const NODE_LIMITATION = 'with it, a flood of UDP datagrams to one account delays the others';

function checkEngine({ socks }: Config): Found {
  const here = engineHere(socks.engine);
  if (here.name === 'native') {
    const workers = workerCount(socks.workers);
    return ok(`native, ${workers} ${workers === 1 ? 'worker' : 'workers'}`);
  }
  if (here.reason === null) return ok(`node, set by socks.engine; ${NODE_LIMITATION}`);
  const text = `the native engine is not available (${here.reason}); install the optional package koffi`;
  if (socks.engine === 'native') return stop(`socks.engine: ${text}`);
  return warn(`node: ${text} on Linux for higher speed; ${NODE_LIMITATION}`);
}

/** Whether programs of agents are kept from the daemon's files and signals. */
function checkAgents({ agents }: Config): Found | null {
  if (!Object.values(agents).some(({ type }) => type === 'command')) return null;
  const { text, missing } = enforcementHere();
  return missing === null ? ok(text) : warn(`${text}; not enforced: ${missing}`);
}

const ENOUGH_PORTS = 10_000;

async function checkLocalPorts(): Promise<Found | null> {
  const [first, last] = await readNumbers('/proc/sys/net/ipv4/ip_local_port_range');
  if (first === undefined || last === undefined) return null;
  const count = last - first + 1;
  const text = `${count} local ports for connections to one destination (${first} to ${last})`;
  if (count >= ENOUGH_PORTS) return ok(text);
  return warn(`${text}; run sysctl -w net.ipv4.ip_local_port_range="10240 65535"`);
}

const CONNTRACK_FULL = 0.8;

async function checkConntrack(): Promise<Found | null> {
  const [most] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_max');
  const [used] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_count');
  if (most === undefined || used === undefined) return null;
  const text = `${used} of ${most} connections tracked`;
  if (used < most * CONNTRACK_FULL) return ok(text);
  return warn(`${text}; a full table drops packets: raise net.netfilter.nf_conntrack_max`);
}

async function readNumbers(file: string): Promise<number[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split(/\s+/).filter(Boolean).map(Number);
}

function checkEgress({ egress, socks }: Config): Found[] {
  if (socks.host.every(isLoopback)) return [];
  const isOpen = (ports = egress.denyPorts): boolean => coveringPorts(ports, [25, 25]) === undefined;
  const classes = Object.keys(egress.classes).filter((name) => isOpen(egress.classes[name]?.denyPorts));
  const open =
    'egress.denyPorts has no smtp: spam of one account, by port 25, gets this machine onto block lists';
  const denied = `port 25 is denied${classes.map((name, i) => `${i > 0 ? ',' : ', except for accounts of'} ${name}`).join('')}`;
  const findings = [isOpen() ? warn(open) : ok(denied)];
  const text =
    'egress.private is allow: every account can reach the private networks of this machine; set it to deny';
  return egress.private === 'deny' ? findings : [...findings, warn(text)];
}

/** A clock that is behind lets expired accounts log in. */
async function checkClock(): Promise<Found> {
  const { mtimeMs } = await stat(new URL(import.meta.url));
  const now = new Date().toISOString();
  if (Date.now() >= mtimeMs) return ok(now);
  return warn(`${now} is earlier than the installation of this program; set the clock (NTP)`);
}
