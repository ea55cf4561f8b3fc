// What the program of a `command` agent may read, write and use up, and what one that was written before these rules misses.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { tryOr } from '../../core/errors.js';
import type { AgentSettings } from '../context.js';
import type { Access } from './system.js';

export type CommandSettings = Extract<AgentSettings, { type: 'command' }>;

/** Programs, libraries, names, certificates, the time, and what programs ask of the system: no secrets, no configuration of services. */
const ETC = `alternatives ca-certificates crypto-policies gai.conf group host.conf hosts ld-musl-x86_64.path ld-musl-aarch64.path
  ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime machine-id mime.types nsswitch.conf os-release passwd perl
  pki/ca-trust pki/tls/certs pki/tls/openssl.cnf protocols python3 resolv.conf services ssl/cert.pem ssl/certs
  ssl/openssl.cnf terminfo timezone`;
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/proc'],
  ...['/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm', '/run/systemd/resolve'],
  ...ETC.split(/\s+/).map((name) => `/etc/${name}`),
];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);

/** The folder of an agent without `cwd`: its own. */
export const agentFolder = (dataDir: string, name: string): string => join(dataDir, 'agents', name);

export const temporaryFolder = (folder: string): string => join(folder, 'tmp');

/**
 * Returns what the programs of an agent may use: the system's files, its own folder, its program with its arguments that are files
 * now, and what the configuration allows.
 * @param folder its own folder @param path of the environment, to find the program
 */
export function accessOf({ command, cwd, allow }: CommandSettings, folder: string, path: string): Access {
  const at = cwd ?? folder;
  return {
    read: [...SYSTEM, ...filesOf(command, at, path), ...(allow?.read ?? [])],
    write: [...DEVICES, folder, ...(allow?.write ?? [])],
  };
}

/** The program, the files among its arguments, and the interpreters that these name. */
function filesOf([program = '', ...args]: readonly string[], cwd: string, path: string): string[] {
  const found = [find(program, cwd, path), ...args.map((arg) => resolve(cwd, arg))].filter(isFile);
  return [...found, ...found.flatMap((file) => interpretersOf(file, cwd, path))];
}

/** execvp(3) */
function find(program: string, cwd: string, path: string): string {
  if (program.includes(sep)) return resolve(cwd, program);
  const places = path.split(delimiter).map((place) => join(place, program));
  return places.find(isFile) ?? program;
}

/** Longest first line of a script that the kernel reads. */
const SCRIPT_BYTES = 256;

/** `#!/usr/bin/env node` names env and node. */
function interpretersOf(file: string, cwd: string, path: string): string[] {
  const [, line = ''] = /^#!(.*)/.exec(beginningOf(file)) ?? [];
  return line
    .trim()
    .split(/\s+/)
    .filter((word) => /^[^-=]+$/.test(word))
    .map((word) => find(word, cwd, path))
    .filter(isFile);
}

function beginningOf(file: string): string {
  const opened = tryOr(null, () => openSync(file, 'r'));
  if (opened === null) return '';
  const bytes = Buffer.alloc(SCRIPT_BYTES);
  const length = tryOr(0, () => readSync(opened, bytes));
  closeSync(opened);
  return bytes.toString('latin1', 0, length);
}

const stat = (path: string) => statSync(path, { throwIfNoEntry: false, bigint: true });
const isFile = (path: string): boolean => exists(path)?.isFile() ?? false;

/** Undefined too for what this user may not see. */
const exists = (path: string) => tryOr(undefined, () => stat(path));

/** Identifies the files that the paths name now: a rule stays with a file that is replaced. */
export function identityOf({ read, write }: Access): string {
  return [...read, ...write].map((path) => exists(path)?.ino ?? 0n).join();
}

/**
 * Returns the command with absolute paths in place of those that name a file from the daemon's folder, where agents without `cwd`
 * ran before they had a folder of their own.
 */
export function commandFrom({ command, cwd }: CommandSettings): string[] {
  if (cwd !== null) return command;
  const isPath = (word: string, i: number): boolean => (i > 0 || word.includes(sep)) && isFile(resolve(word));
  return command.map((word, i) => (!isAbsolute(word) && isPath(word, i) ? resolve(word) : word));
}

/** One warning for each path that `allow` names and that is missing, or that contains what agents must not reach. */
export function allowWarnings({ allow }: CommandSettings, dataDir: string): { key: string; text: string }[] {
  const given = Object.entries(allow ?? {}).flatMap(([kind, paths]) =>
    paths.map((path, i) => ({ key: `allow.${kind}[${i}]`, path })),
  );
  return given.flatMap(({ key, path }) => {
    if (!exists(path)) return [{ key, text: `no such file or folder: ${path}` }];
    return isIn(dataDir, path) ? [{ key, text: `${path} contains dataDir: accounts, secrets, control` }] : [];
  });
}

/**
 * Returns the folders that an agent without `allow`, as older configurations have them, cannot reach any more, as far as the
 * configuration shows: `cwd`, those of its program and of the files among its arguments, and what its variables name.
 */
export function lostPaths(settings: CommandSettings, dataDir: string, path: string): string[] {
  const { cwd, allow, env } = settings;
  if (allow !== null) return [];
  const [program = '', ...args] = commandFrom(settings);
  const at = cwd ?? process.cwd();
  const files = [find(program, at, path), ...args.map((arg) => resolve(at, arg))].filter(isFile);
  const named = Object.values(env).map((value) => value.reveal());
  const paths = [
    ...(cwd === null ? [] : [cwd]),
    ...files.map((file) => installationOf(dirname(file))),
    ...[...args, ...named].filter((text) => isAbsolute(text) && exists(text) && !files.includes(text)),
  ];
  const isOpen = (one: string): boolean => SYSTEM.some((other) => isIn(one, other));
  const isOurs = (one: string): boolean => isIn(dataDir, one) || isIn(one, dataDir) || isIn(one, '/etc');
  const lost = [...new Set(paths)].filter((one) => !isOpen(one) && !isOurs(one));
  return lost.filter((one) => !lost.some((other) => other !== one && isIn(one, other)));
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** A program in a folder `bin` has its other files beside it. */
const installationOf = (folder: string): string => (folder.endsWith(`${sep}bin`) ? dirname(folder) : folder);

/** The limits of each program of an agent (setrlimit(2)). */
interface Limits {
  /** Memory of a process that it can write to and that is its own, in bytes (RLIMIT_DATA). */
  readonly memoryBytes: number;
  /** Processes and threads of the daemon's user, from which on the program starts no more (RLIMIT_NPROC). */
  readonly processes: number;
  /** Processor time of a process, in s (RLIMIT_CPU). */
  readonly cpuSeconds: number;
}

/** dash and busybox call the number of processes -p, bash -u. A limit of the daemon that is lower stays. */
const SCRIPT =
  '{ ulimit -c 0; ulimit -d "$1"; ulimit -t "$2"; ulimit -p "$3" || ulimit -u "$3"; } 2>/dev/null; shift 3; exec "$@"';

/** The command that runs `command` with the limits, which a shell sets before it becomes the program. */
export function limited(
  command: readonly string[],
  { memoryBytes, processes, cpuSeconds }: Limits,
): readonly string[] {
  const numbers = [Math.floor(memoryBytes / 1024), cpuSeconds, processes].map(String);
  return ['/bin/sh', '-c', SCRIPT, 'sh', ...numbers, ...command];
}
