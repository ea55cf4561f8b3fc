// The limits of this process (getrlimit(2)), and the maximum number of connections from that of file descriptors (RLIMIT_NOFILE).
import { readFileSync } from 'node:fs';

/** Reserved for the database, the admin API, agents and logs. */
const RESERVED = 64;
/** A session needs a socket to the client and one to the destination; with TLS also both ends of a Unix socket. */
const PER_CONNECTION = 2;
const PER_TLS_CONNECTION = 4;
/** Used where the limit cannot be read: the lowest common one. */
const DEFAULT_LIMIT = 1024;

/** The soft limit of open file descriptors, which Node raises to the hard limit at start. */
export function descriptorLimit(): number {
  return limitOf('Max open files') ?? DEFAULT_LIMIT;
}

/** V8 reserves much more address space than it uses, and dies where it gets none. */
const LEAST_ADDRESS_SPACE = 4 * 2 ** 30;

/** Returns the limit of address space, in bytes, where it is too low for V8; null: it is not. */
export function lowAddressSpace(): number | null {
  const limit = limitOf('Max address space');
  return limit !== null && limit < LEAST_ADDRESS_SPACE ? limit : null;
}

/** Returns a soft limit; null without /proc (not Linux). */
function limitOf(name: string): number | null {
  try {
    const [, soft] =
      new RegExp(`^${name}\\s+(\\d+|unlimited)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === undefined) return null;
    return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
  } catch {
    return null;
  }
}

/** The value of `maxConnections: auto` for a limit of `descriptors`; at least 1. `hasTls`: some connections may use TLS. */
export function connectionsFor(descriptors: number, hasTls: boolean): number {
  const each = hasTls ? PER_TLS_CONNECTION : PER_CONNECTION;
  return Math.max(1, Math.floor((descriptors - reservedOf(descriptors)) / each));
}

/** The number of descriptors that connections of players may not use. */
export function reservedOf(descriptors: number): number {
  return Math.max(RESERVED, Math.floor(descriptors / 10));
}
