// How many connections the descriptor limit (RLIMIT_NOFILE) leaves room for.
import { readFileSync } from 'node:fs';

/** Kept back for the database, the admin API, agents and logs. */
const RESERVED = 64;
/** A session holds the client's socket and the destination's; behind TLS also both ends of the Unix socket between. */
const PER_CONNECTION = 2;
const PER_TLS_CONNECTION = 4;
const WITHOUT_PROC = 1024;

/** The soft limit of open descriptors of this process, which Node raises to the hard one at start. */
export function descriptorLimit(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return Number(soft ?? WITHOUT_PROC);
  } catch {
    // No /proc (not Linux): the least that systems give.
    return WITHOUT_PROC;
  }
}

/** What `maxConnections: auto` means under a limit of `descriptors`; at least 1. `hasTls`: some may be behind TLS. */
export function connectionsFor(descriptors: number, hasTls: boolean): number {
  const each = hasTls ? PER_TLS_CONNECTION : PER_CONNECTION;
  return Math.max(1, Math.floor((descriptors - reservedOf(descriptors)) / each));
}

/** Descriptors that players' connections leave alone. */
export function reservedOf(descriptors: number): number {
  return Math.max(RESERVED, Math.floor(descriptors / 10));
}
