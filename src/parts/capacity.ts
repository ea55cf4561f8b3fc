// How many connections there may be.
import type { Config } from '../config.js';
import { connectionsFor, descriptorLimit, reservedOf } from './descriptors.js';

/** Connections at once: as configured, or what the descriptor limit leaves room for. */
export function maxConnections({ socks }: Config): number {
  if (socks.maxConnections !== 'auto') return socks.maxConnections;
  return connectionsFor(descriptorLimit(), hasTls(socks));
}

/** Whether some of the players' listeners have a certificate. */
export function hasTls({ listeners }: Config['socks']): boolean {
  return listeners.some(({ tls }) => tls !== undefined);
}

/** Half of the places are kept for sessions, whatever waits. */
export function maxHandshakes(config: Config): number {
  const { maxHandshakes } = config.socks;
  return maxHandshakes === 'auto' ? Math.max(1, Math.floor(maxConnections(config) / 2)) : maxHandshakes;
}

/** More than an operator's pages and scripts need. */
const MAX_ADMIN_CONNECTIONS = 1_000;

/** Connections to the admin port: at most half of the descriptors that players never get, so that they never take theirs. */
export function adminConnections({ admin }: Config): Config['admin']['connections'] & {
  readonly max: number;
  readonly maxPerSource: number;
  readonly maxOutside: number;
} {
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
