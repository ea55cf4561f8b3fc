// The login log: logins and failures of players with user name, address and outcome. Groups repeated logins before writing.
import { sourceOf } from '../../addresses/ip.js';
import { deleteFromSet } from '../../maps.js';
import { type Clock, HOUR_MS, type TimeRange } from '../../time/clock.js';
import { joined } from '../../time/turns.js';
import { REPORTED_AS } from '../usage/guard.js';
import { LIMIT_REFUSALS } from '../usage/limits.js';
import { LOGIN_FAILURES } from './login.js';

export const LOGIN_OUTCOMES = [
  'success',
  ...LOGIN_FAILURES,
  ...LIMIT_REFUSALS,
  'slowed',
  ...new Set(Object.values(REPORTED_AS)),
] as const;
export type LoginOutcome = (typeof LOGIN_OUTCOMES)[number];

export interface LoginEntry {
  /** Time of the first login of the group, in milliseconds since the epoch. */
  readonly at: number;
  /** Null when no account has the user name. */
  readonly accountId: string | null;
  /** Empty without credentials, and for the many names that a blocked source tried. */
  readonly username: string;
  /** Client address; the first one of a blocked source. */
  readonly client: string;
  readonly outcome: LoginOutcome;
  /** Number of equal logins within a minute, or within an hour for a blocked source. */
  readonly times: number;
}

export interface LoginFilter extends TimeRange {
  readonly accountId?: string;
  /** Only accounts of this seller. */
  readonly owner?: string;
  /** Text in user name or client address. */
  readonly search?: string;
  readonly failed?: boolean;
}

/** An entry with its position in the list. */
type StoredLogin = LoginEntry & { readonly place: number };

export interface LoginStore {
  /** Returns the positions of the entries, in the same order. */
  add(entries: readonly LoginEntry[]): Promise<number[]>;
  /** Updates the counts of entries. */
  repeated(entries: readonly { readonly place: number; readonly times: number }[]): Promise<void>;
  /** Newest first, before the position `before`. */
  list(filter: LoginFilter, before: number | null, limit: number): Promise<StoredLogin[]>;
  count(filter: LoginFilter): Promise<number>;
  /** Deletes at most `limit` entries that are older than `before` or beyond the newest `keep`; returns their number. */
  trim(before: number, keep: number, limit: number): Promise<number>;
}

/** Logins with the same name, address and outcome within this time are one entry. */
const GROUP_MS = 60_000;
/** The same for a blocked source, whose attempts must not displace other entries of the log. */
const BLOCKED_GROUP_MS = HOUR_MS;

interface Group {
  readonly entry: LoginEntry;
  /** By the monotonic clock. */
  readonly endsAt: number;
  times: number;
  writtenTimes: number;
  /** null: not written yet. */
  place: number | null;
}

/**
 * Keeps at most `maxGroups` groups, and at most half of them for blocked sources; drops further ones, so that guessing names
 * cannot fill the memory.
 */
export function createLoginLog(options: {
  store: Pick<LoginStore, 'add' | 'repeated'>;
  now: Clock;
  monotonicNow: Clock;
  maxGroups: number;
  /** Number of names of a blocked source with a separate entry per hour; the others share one entry. */
  maxBlockedNames: number;
  /** Called for each login, grouped or not. */
  onNote: (outcome: LoginOutcome) => void;
}) {
  const { store, now, monotonicNow, maxGroups, maxBlockedNames, onNote } = options;
  const groups = new Map<string, Group>();
  const blocked = new Map<string, Set<string>>();
  let blockedGroups = 0;

  async function write(): Promise<void> {
    const fresh = [...groups.values()].filter((group) => group.place === null);
    const taken = fresh.map((group) => ({ ...group.entry, times: group.times }));
    if (taken.length > 0) {
      const places = await store.add(taken);
      for (const [i, group] of fresh.entries()) {
        group.place = places[i] ?? null;
        group.writtenTimes = taken[i]?.times ?? 0;
      }
    }
    const grown = [...groups.values()].flatMap((group) =>
      group.place !== null && group.times > group.writtenTimes
        ? [{ group, place: group.place, times: group.times }]
        : [],
    );
    if (grown.length > 0) await store.repeated(grown);
    for (const { group, times } of grown) group.writtenTimes = times;
    const at = monotonicNow();
    for (const [key, group] of groups) {
      if (group.endsAt <= at && group.times === group.writtenTimes) forget(key, group);
    }
  }

  function forget(key: string, { entry }: Group): void {
    groups.delete(key);
    if (entry.outcome !== 'blocked-address') return;
    blockedGroups -= 1;
    const source = sourceOf(entry.client);
    deleteFromSet(blocked, source, key);
  }

  /** The name to record for a login of a blocked source: the tried name for the first few, empty for the others. */
  function blockedName(source: string, username: string): string {
    const keys = blocked.get(source);
    if (!keys || keys.has(blockedKey(source, username))) return username;
    const named = keys.size - (keys.has(blockedKey(source, '')) ? 1 : 0);
    return named < maxBlockedNames ? username : '';
  }

  function count(key: string, makeEntry: () => Omit<LoginEntry, 'at' | 'times'>, groupMs: number): boolean {
    const group = groups.get(key);
    // The next flush, within a second, writes and removes a group that has ended.
    if (group) {
      group.times += 1;
      return false;
    }
    const entry = { ...makeEntry(), at: now(), times: 1 };
    groups.set(key, { entry, endsAt: monotonicNow() + groupMs, times: 1, writtenTimes: 0, place: null });
    return true;
  }

  function noteBlocked(username: string, accountId: string | null, client: string): void {
    const source = sourceOf(client);
    const name = blockedName(source, username);
    const key = blockedKey(source, name);
    if (!groups.has(key) && (groups.size >= maxGroups || blockedGroups >= maxGroups / 2)) return;
    const outcome = 'blocked-address';
    const entry = { accountId: name === '' ? null : accountId, username: name, client, outcome } as const;
    if (!count(key, () => entry, BLOCKED_GROUP_MS)) return;
    blockedGroups += 1;
    blocked.set(source, (blocked.get(source) ?? new Set()).add(key));
  }

  return {
    note(outcome: LoginOutcome, username: string, accountId: string | null, client: string): void {
      onNote(outcome);
      if (outcome === 'blocked-address') return noteBlocked(username, accountId, client);
      const key = `${outcome} ${client} ${username}`;
      if (!groups.has(key) && groups.size >= maxGroups) return;
      count(key, () => ({ accountId, username, client, outcome }), GROUP_MS);
    },

    /** Writes new entries. Rejects with the error of the database and keeps them on failure. Call it about once a second. */
    flush: joined(write),
  };
}

const blockedKey = (source: string, username: string): string => `blocked-address ${source} ${username}`;
