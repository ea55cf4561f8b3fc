// The live sessions of an account, grouped by client address: a player sees one address as one device.
import { z } from 'zod';
import { iso } from '../../core/clock.js';
import type { LiveSessionView } from '../../core/sessions/live-session-store.js';
import { Bytes, Count, Time } from '../api/schemas.js';

/** The live sessions of one client address. */
export const Device = z
  .object({
    address: z.string(),
    /** Whether the request came from this address. */
    isThis: z.boolean(),
    games: z.array(z.string()),
    /** Start of its oldest session. */
    since: Time,
    sessions: Count,
    bytesUp: Bytes,
    bytesDown: Bytes,
  })
  .meta({ id: 'Device' });

/** Returns the devices, oldest first. @param client address of the request's client */
export function devicesOf(sessions: readonly LiveSessionView[], client: string): z.infer<typeof Device>[] {
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
