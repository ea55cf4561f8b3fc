// Skips tests that need what this machine lacks: a system program, or IPv6. With TEST_REQUIRE_ALL=true they fail instead, so that
// .ci/run, which installs everything, runs every test.
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, join } from 'node:path';

/** A requirement of a test, and how to check for it. */
interface Need {
  readonly name: string;
  isThere(): boolean;
}

/** The loopback address `::1`. Containers often have none. */
export const IPV6: Need = {
  name: 'IPv6 on the loopback interface',
  isThere: () =>
    Object.values(networkInterfaces()).some((addresses) =>
      addresses?.some(({ address }) => address === '::1'),
    ),
};

/** The system's python3 with PySocks (Debian: python3-socks). */
export const PYTHON_SOCKS: Need = {
  name: 'the Python module socks (python3-socks)',
  isThere: () => succeeds('/usr/bin/python3', ['-c', 'import socks']),
};

/** OpenBSD's `nc`. ncat and netcat-traditional also install `nc`, but without `-X 5 -x`. */
export const OPENBSD_NC: Need = {
  name: 'nc of OpenBSD (netcat-openbsd)',
  isThere: () => {
    const { stdout, stderr } = spawnSync('nc', ['-h'], { encoding: 'utf8', timeout: 5_000 });
    return /-X proxy_protocol/.test(`${stdout}${stderr}`);
  },
};

/** nginx with the stream module at the path in the guide's file. */
export const NGINX_STREAM: Need = {
  name: 'nginx with its stream module (nginx-light, libnginx-mod-stream)',
  isThere: () =>
    findProgram('nginx') !== undefined && existsSync('/etc/nginx/modules-enabled/50-mod-stream.conf'),
};

/** Returns the options of a test that connects to this address, or binds it: an IPv6 address needs IPv6. */
export function needsFor(address: string): { skip: string | false } {
  return address.includes(':') ? needs(IPV6) : { skip: false };
}

/** Returns whether the machine has what a test needs. Throws with TEST_REQUIRE_ALL=true when it has not. */
export function has(...programs: readonly (string | Need)[]): boolean {
  return needs(...programs).skip === false;
}

/** Returns the options of a test that needs these programs. Throws with TEST_REQUIRE_ALL=true when one is missing. */
export function needs(...programs: readonly (string | Need)[]): { skip: string | false } {
  const missing = programs
    .map((program) => (typeof program === 'string' ? toNeed(program) : program))
    .filter((need) => !need.isThere())
    .map(({ name }) => name);
  if (missing.length === 0) return { skip: false };
  const message = `not on this machine: ${missing.join(', ')}`;
  if (process.env['TEST_REQUIRE_ALL'] === 'true') throw new Error(message);
  return { skip: message };
}

/** Skips a running test for a reason of this machine. Throws with TEST_REQUIRE_ALL=true. */
export function skipFor(t: { skip(message: string): void }, reason: string): void {
  if (process.env['TEST_REQUIRE_ALL'] === 'true') throw new Error(reason);
  t.skip(reason);
}

/** Returns the full path of a program, also in sbin folders; undefined when it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function toNeed(name: string): Need {
  return { name, isThere: () => findProgram(name) !== undefined };
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
