// The live sessions of an account, grouped by client address: a player sees one address as one device.
import type { LiveSessionView } from '../../core/sessions/live-session-store.js';
import { iso } from '../v1/times.js';

interface Device {
  readonly address: string;
  readonly isThis: boolean;
  readonly games: readonly string[];
  readonly since: string;
  readonly sessions: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** Returns the devices, oldest first. @param client address of the request's client */
export function devicesOf(sessions: readonly LiveSessionView[], client: string): Device[] {
  const byAddress = new Map<string, LiveSessionView[]>();
  const oldestFirst = [...sessions].sort((one, other) => one.openedAt - other.openedAt);
  for (const session of oldestFirst) {
    const { address } = session.client;
    const others = byAddress.get(address);
    if (others) others.push(session);
    else byAddress.set(address, [session]);
  }
  return Array.from(byAddress, ([address, own]) => ({
    address,
    isThis: address === client,
    games: [...new Set(own.flatMap(({ gameId }) => gameId ?? []))],
    since: iso(own[0]?.openedAt ?? 0),
    sessions: own.length,
    bytesUp: own.reduce((sum, { bytesUp }) => sum + bytesUp, 0),
    bytesDown: own.reduce((sum, { bytesDown }) => sum + bytesDown, 0),
  }));
}
