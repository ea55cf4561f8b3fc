// Heartbeat entries in the database.
import type { Heartbeat, HeartbeatStore } from '../../src/core/heartbeats/heartbeat.js';

/** The newest entries of an account, the newest first. */
export async function newestOf(
  store: { readonly heartbeats: Pick<HeartbeatStore, 'list'> },
  accountId: string,
  limit: number,
): Promise<Heartbeat[]> {
  const entries = await store.heartbeats.list({ accountId }, null, limit);
  return entries.map(({ place: _, ...entry }) => entry);
}
