// How many connections there may be.
import type { Config } from '../config.js';
import { connectionsFor, descriptorLimit } from './descriptors.js';

/** Connections at once: as configured, or what the descriptor limit leaves room for. */
export function maxConnections({ socks }: Config): number {
  return socks.maxConnections === 'auto' ? connectionsFor(descriptorLimit()) : socks.maxConnections;
}

/** Half of the places are kept for sessions, whatever waits. */
export function maxHandshakes(config: Config): number {
  const { maxHandshakes } = config.socks;
  return maxHandshakes === 'auto' ? Math.max(1, Math.floor(maxConnections(config) / 2)) : maxHandshakes;
}
