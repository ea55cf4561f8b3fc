// What of the confinement of `command` agents this system enforces.
import { loadConfinement, SCOPES_VERSION } from './system.js';

/** `missing`: what is not enforced, and why; null: everything is. */
export interface Enforcement {
  readonly text: string;
  readonly missing: string | null;
}

/** The first version of Landlock that handles truncation: before it, a program could empty files that it may not read. */
const TRUNCATION_VERSION = 3;

export function enforcementHere(load = loadConfinement): Enforcement {
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
