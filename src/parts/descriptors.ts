// Derives the maximum number of connections from the file descriptor limit (RLIMIT_NOFILE).
import { readFileSync } from 'node:fs';

/** Reserved for the database, the admin API, agents and logs. */
const RESERVED = 64;
/** A session needs a socket to the client and one to the destination; with TLS also both ends of a Unix socket. */
const PER_CONNECTION = 2;
const PER_TLS_CONNECTION = 4;
/** Used where the limit cannot be read. */
const DEFAULT_LIMIT = 1024;

/** The soft limit of open file descriptors, which Node raises to the hard limit at start. */
export function descriptorLimit(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return Number(soft ?? DEFAULT_LIMIT);
  } catch {
    // No /proc (not Linux): assume the lowest common limit.
    return DEFAULT_LIMIT;
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
