// The limits of connections that the configuration sets or that `auto` derives from the file descriptor limit.
import type { Config } from '../config.js';
import { connectionsFor, descriptorLimit, reservedOf } from './descriptors.js';

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
