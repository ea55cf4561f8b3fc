// The UDP ports of our own associations: what players may not reach, and whom not to take for a player.
import type { DatagramPorts } from '../../core/sessions/datagram-relay.js';

export interface OwnDatagramPorts extends DatagramPorts {
  /** Whether a socket that takes datagrams from players is bound to `port`, on whatever address. */
  isClientSide(port: number): boolean;
  /** Whether a socket that exchanges datagrams with destinations is bound to `port`, on whatever address. */
  isOutside(port: number): boolean;
}

/** The same number may be bound on several addresses at once, so each is counted. */
export function createOwnDatagramPorts(): OwnDatagramPorts {
  const counts = { client: new Map<number, number>(), outside: new Map<number, number>() };
  return {
    opened(side, port) {
      counts[side].set(port, (counts[side].get(port) ?? 0) + 1);
    },
    closed(side, port) {
      const left = (counts[side].get(port) ?? 1) - 1;
      if (left === 0) counts[side].delete(port);
      else counts[side].set(port, left);
    },
    isClientSide: (port) => counts.client.has(port),
    isOutside: (port) => counts.outside.has(port),
  };
}
