// The system calls that confine a thread and the programs that it starts: Landlock (landlock(7)) and prctl(2). Linux on x64 and
// arm64, through koffi.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getSystemErrorName } from 'node:util';
import { tryOr } from '../../core/errors.js';

/** The same numbers on every architecture. */
const LANDLOCK_CREATE_RULESET = 444;
const LANDLOCK_ADD_RULE = 445;
const LANDLOCK_RESTRICT_SELF = 446;
const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const O_PATH = 0o10000000;

// <linux/landlock.h>: rights to files, and the version of Landlock that knows them.
const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
const READ = EXECUTE | READ_FILE | READ_DIR;
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
/** All rights that a version handles: 13 in the first one, then REFER, TRUNCATE and IOCTL_DEV. */
const rightsOf = (version: number): bigint => {
  const later = Number(version >= 2) + Number(version >= 3) + Number(version >= 5);
  return (1n << BigInt(13 + later)) - 1n;
};
/** The first version with scopes. */
const SCOPES_VERSION = 6;
const SCOPE_ABSTRACT_UNIX_SOCKET = 1n << 0n;
const SCOPE_SIGNAL = 1n << 1n;

// <sys/prctl.h>
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const CAPABILITIES = 64;

export interface Access {
  /** Files, and folders with everything below, that may be read and executed. Missing ones are skipped. */
  readonly read: readonly string[];
  /** The same, that may be changed too. */
  readonly write: readonly string[];
}

/** Throws where koffi is missing, or the platform is another one. */
export function loadConfinement() {
  if (process.platform !== 'linux') throw new Error(`not available on ${process.platform}`);
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  const createRuleset = library.func('syscall', 'long', ['long', 'void *', 'size_t', 'uint32_t']);
  const addRule = library.func('syscall', 'long', ['long', 'int', 'int', 'void *', 'uint32_t']);
  const restrictSelf = library.func('syscall', 'long', ['long', 'int', 'uint32_t']);
  const prctl = library.func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong']);

  const check = (result: number | bigint, what: string): number => {
    if (Number(result) < 0) throw new Error(`${what}: ${getSystemErrorName(-koffi.errno())}`);
    return Number(result);
  };
  /** The kernel's version of Landlock; 0: it has none, it is off, or a filter of system calls forbids it. */
  const version = (): number =>
    Math.max(0, Number(createRuleset(LANDLOCK_CREATE_RULESET, null, 0, CREATE_RULESET_VERSION)));

  function allow(ruleset: number, path: string, rights: bigint): void {
    const file = openIfThere(path);
    if (file === null) return;
    try {
      // struct landlock_path_beneath_attr, packed.
      const rule = Buffer.alloc(12);
      rule.writeBigUInt64LE(fstatSync(file).isDirectory() ? rights : rights & OF_FILES);
      rule.writeInt32LE(file, 8);
      check(addRule(LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0), `landlock_add_rule ${path}`);
    } finally {
      closeSync(file);
    }
  }

  return {
    version,

    /**
     * Leaves this thread, and every program that it starts from now on, only the given files, no capabilities, and signals only
     * to one another. It cannot be undone. Without Landlock it does nothing. The other threads of the process keep their rights.
     */
    restrictThread({ read, write }: Access): void {
      const present = version();
      if (present === 0) return;
      const rights = rightsOf(present);
      const scopes = present >= SCOPES_VERSION ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0n;
      const attributes = new BigUint64Array([rights, 0n, scopes]);
      const bytes = present >= SCOPES_VERSION ? 24 : 8;
      const ruleset = check(
        createRuleset(LANDLOCK_CREATE_RULESET, attributes, bytes, 0),
        'landlock_create_ruleset',
      );
      for (const path of read) allow(ruleset, path, READ);
      for (const path of write) allow(ruleset, path, rights);
      // Fails for users who have none. Programs of root would read the memory of the daemon by CAP_PERFMON.
      for (let capability = 0; capability < CAPABILITIES; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
      check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 'prctl');
      check(restrictSelf(LANDLOCK_RESTRICT_SELF, ruleset, 0), 'landlock_restrict_self');
      closeSync(ruleset);
    },
  };
}

const openIfThere = (path: string): number | null =>
  tryOr(null, () => openSync(path, constants.O_RDONLY | O_PATH));

/** The first version of Landlock that handles truncation: before it, a program could empty files that it may not read. */
const TRUNCATION_VERSION = 3;

/**
 * What of the confinement of `command` agents this system enforces. `missing`: what is not enforced, and why; null: everything is.
 */
export function enforcementHere(load = loadConfinement): { text: string; missing: string | null } {
  let version: number;
  try {
    version = load().version();
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    const missing = `files and signals (koffi: ${reason}): install the optional package koffi`;
    return { text: 'limited', missing };
  }
  const text = `confined by Landlock ${version}`;
  if (version === 0) {
    const todo = 'Linux 5.13 with landlock in /sys/kernel/security/lsm, and landlock_* in SystemCallFilter=';
    return { text: 'limited', missing: `files and signals: this needs ${todo}` };
  }
  if (version >= SCOPES_VERSION) return { text, missing: null };
  const truncation = version < TRUNCATION_VERSION ? 'truncation of files (Linux 6.2), ' : '';
  return { text, missing: `${truncation}signals and abstract sockets (Linux 6.12)` };
}
