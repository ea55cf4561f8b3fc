// The sources from which a user has signed in with a second factor of late. Guesses of others at the user's codes do not lock them out.
import { type Clock, DAY_MS } from '../clock.js';
import { sourceOf } from '../ip.js';
import type { SettingStore } from '../settings/setting-store.js';
import { operatorSettingsPrefix } from './operator.js';

export type KnownSources = ReturnType<typeof createKnownSources>;

const KEPT_MS = 30 * DAY_MS;
/** Most sources of one user; the oldest is forgotten first. */
const MAX_SOURCES = 10;

const keyOf = (operatorId: string | null): string =>
  `${operatorId === null ? 'admin' : operatorSettingsPrefix(operatorId)}.known-sources`;

/** They are in the database: all daemons know them, also after a restart. */
export function createKnownSources(settings: Pick<SettingStore, 'get' | 'set'>, now: Clock) {
  /** When each source was seen last, newest first. */
  async function read(operatorId: string | null): Promise<[source: string, at: number][]> {
    const stored = JSON.parse((await settings.get(keyOf(operatorId))) ?? '[]') as [string, number][];
    return stored.filter(([, at]) => at > now() - KEPT_MS);
  }
  return {
    /** Rejects when the database cannot be read. @param operatorId null: the administrator */
    async has(operatorId: string | null, address: string): Promise<boolean> {
      const source = sourceOf(address);
      return (await read(operatorId)).some(([known]) => known === source);
    },

    /** Rejects when it cannot be written. */
    async add(operatorId: string | null, address: string): Promise<void> {
      const source = sourceOf(address);
      const known = await read(operatorId);
      // Written once a day.
      if (known.some(([one, at]) => one === source && at > now() - DAY_MS)) return;
      const others = known.filter(([one]) => one !== source);
      const next = [[source, now()], ...others].slice(0, MAX_SOURCES);
      await settings.set(keyOf(operatorId), JSON.stringify(next));
    },
  };
}
