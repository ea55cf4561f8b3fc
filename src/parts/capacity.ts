// The limits of this process (getrlimit(2)), and those of connections, which the configuration sets or `auto` derives from the limit
// of file descriptors (RLIMIT_NOFILE).
import { readFileSync } from 'node:fs';
import type { Config } from '../config.js';
import { tryOr } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { nodeTimers, type Timer } from '../core/time/timers.js';
import type { Libc } from '../proxy/io/native/libc.js';
import { preparePriorities, yieldToPlayers } from '../proxy/thread-priority.js';
import type { Part } from './lifecycle.js';

/** Maximum number of concurrent connections: as configured, or derived from the file descriptor limit. */
export function maxConnections({ socks }: Config): number {
  if (socks.maxConnections !== 'auto') return socks.maxConnections;
  return connectionsFor(descriptorLimit(), hasTls(socks));
}

/** Whether any listener of players has a certificate. */
export function hasTls({ listeners }: Config['socks']): boolean {
  return listeners.some(({ tls }) => tls !== undefined);
}

/** Maximum number of connections without a request. `auto` keeps half of the connections for sessions. */
export function maxHandshakes(config: Config): number {
  const { maxHandshakes } = config.socks;
  return maxHandshakes === 'auto' ? Math.max(1, Math.floor(maxConnections(config) / 2)) : maxHandshakes;
}

/** Enough for the pages and scripts of operators. */
const MAX_ADMIN_CONNECTIONS = 1_000;

/** Limits of connections to the admin port: at most half of the descriptors that are reserved from players. */
export function adminConnections({ admin }: Config) {
  const { connections } = admin;
  const room = Math.floor(reservedOf(descriptorLimit()) / 2);
  const max = connections.max === 'auto' ? Math.min(MAX_ADMIN_CONNECTIONS, room) : connections.max;
  const partOf = (parts: number, set: number | 'auto') =>
    Math.min(max, set === 'auto' ? Math.max(1, Math.floor(max / parts)) : set);
  return {
    ...connections,
    max,
    maxPerSource: partOf(2, connections.maxPerSource),
    maxOutside: partOf(4, connections.maxOutside),
  };
}

/** Reserved for the database, the admin API, agents and logs. */
const RESERVED = 64;
/** A session needs a socket to the client and one to the destination; with TLS also both ends of a Unix socket. */
const PER_CONNECTION = 2;
const PER_TLS_CONNECTION = 4;
/** Used where the limit cannot be read: the lowest common one. */
const DEFAULT_LIMIT = 1024;

/** The soft limit of open file descriptors, which Node raises to the hard limit at start. */
export const descriptorLimit = (): number => limitOf('Max open files') ?? DEFAULT_LIMIT;

/** V8 reserves much more address space than it uses, and dies where it gets none. */
const LEAST_ADDRESS_SPACE = 4 * 2 ** 30;

/** Returns the limit of address space, in bytes, where it is too low for V8; null: it is not. */
export function lowAddressSpace(): number | null {
  const limit = limitOf('Max address space');
  return limit !== null && limit < LEAST_ADDRESS_SPACE ? limit : null;
}

/** Returns a soft limit; null without /proc (not Linux). */
function limitOf(name: string): number | null {
  const limits = tryOr('', () => readFileSync('/proc/self/limits', 'utf8'));
  const [, soft] = new RegExp(`^${name}\\s+(\\d+|unlimited)`, 'm').exec(limits) ?? [];
  if (soft === undefined) return null;
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}

/** The value of `maxConnections: auto` for a limit of `descriptors`; at least 1. `hasTls`: some connections may use TLS. */
export function connectionsFor(descriptors: number, hasTls: boolean): number {
  const each = hasTls ? PER_TLS_CONNECTION : PER_CONNECTION;
  return Math.max(1, Math.floor((descriptors - reservedOf(descriptors)) / each));
}

/** The number of descriptors that connections of players may not use. */
export const reservedOf = (descriptors: number): number => Math.max(RESERVED, Math.floor(descriptors / 10));

/** How often memory that malloc keeps is given back, in ms: after the start, an import or a report of many accounts it is much. */
const TRIM_MS = 120_000;

export function createMemoryPart(libc: Libc | null): Part {
  let trimming: Timer | undefined;
  return {
    name: 'memory',
    start() {
      trimming = nodeTimers.every(TRIM_MS, () => libc?.trimMemory());
    },
    stop: () => trimming?.clear(),
  };
}

/** Created before the threads of players, and started when all of them run. */
export function createPriorityPart({ controlPlaneNice }: Config, log: Log): Part {
  if (controlPlaneNice > 0) preparePriorities();
  return {
    name: 'priority',
    start() {
      if (!yieldToPlayers(controlPlaneNice))
        log.warn({ controlPlaneNice }, 'the system refused to lower the priority of the control plane');
    },
    // Players wait.
    handOver: () => preparePriorities(),
  };
}
