// Logins and failures of players: who tried, from where, and what came of it. Grouped before they are written.
import { type Clock, HOUR_MS } from '../clock.js';
import { sourceOf } from '../source.js';

export type LoginOutcome =
  | 'success'
  | 'unknown-user'
  | 'wrong-password'
  | 'disabled'
  | 'expired'
  | 'blocked-address'
  | 'too-many-sessions'
  | 'too-many-addresses'
  | 'over-quota';

export interface LoginEntry {
  /** The first of them, in milliseconds since the epoch. */
  readonly at: number;
  /** null: no account has the name. */
  readonly accountId: string | null;
  /** Empty: many names that a blocked source tried. */
  readonly username: string;
  /** Client address; of a blocked source the first one. */
  readonly client: string;
  readonly outcome: LoginOutcome;
  /** The same again within a minute is counted together; of a blocked source, within an hour. */
  readonly times: number;
}

export interface LoginFilter {
  readonly accountId?: string;
  /** In user name and client address. */
  readonly search?: string;
  readonly failed?: boolean;
}

/** An entry with its place in the list. */
export type StoredLogin = LoginEntry & { readonly place: number };

export interface LoginStore {
  /** Returns the place of each entry, in their order. */
  add(entries: readonly LoginEntry[]): Promise<number[]>;
  /** Writes how often entries have happened by now. */
  repeated(entries: readonly { readonly place: number; readonly times: number }[]): Promise<void>;
  /** Newest first, all before the place `before`. */
  list(filter: LoginFilter, before: number | null, limit: number): Promise<StoredLogin[]>;
  count(filter: LoginFilter): Promise<number>;
  /** Removes at most `limit` entries from before `before`, or beyond the newest `keep`; returns how many. */
  trim(before: number, keep: number, limit: number): Promise<number>;
}

/** What the listener tells of a login. */
export interface NoteLogin {
  note(outcome: LoginOutcome, username: string, accountId: string | null, client: string): void;
}

export interface LoginLog extends NoteLogin {
  /** Writes what is new. Rejects with the database's error; nothing is lost then. Call it about once a second. */
  flush(): Promise<void>;
  /** Groups given up since the start because too many waited. */
  dropped(): number;
}

/** The same name, address and outcome within so long are one entry. */
const GROUP_MS = 60_000;
/** Of a blocked source: it goes on for as long as it likes, and must not push real entries out of the log. */
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
 * At most `maxGroups` are remembered, and no more than half of them of blocked sources; beyond, new ones are given up,
 * so that guessing names fills no memory.
 */
export function createLoginLog({
  store,
  now,
  monotonicNow,
  maxGroups,
  maxBlockedNames,
  onNote,
}: {
  store: Pick<LoginStore, 'add' | 'repeated'>;
  now: Clock;
  /** A clock that is never set back, in ms. */
  monotonicNow: Clock;
  maxGroups: number;
  /** Names of a blocked source that have an entry of their own in an hour; the rest share one. */
  maxBlockedNames: number;
  /** Called for each login, grouped or not. */
  onNote: (outcome: LoginOutcome) => void;
}): LoginLog {
  const groups = new Map<string, Group>();
  /** Groups of each blocked source. */
  const blocked = new Map<string, Set<string>>();
  let blockedGroups = 0;
  let dropped = 0;
  let writing: Promise<void> | null = null;

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
    const keys = blocked.get(source);
    keys?.delete(key);
    if (keys?.size === 0) blocked.delete(source);
  }

  /** The name under which a login of a blocked source is noted: its own for the first few, none for the rest. */
  function blockedName(source: string, username: string): string {
    const keys = blocked.get(source);
    if (!keys || keys.has(blockedKey(source, username))) return username;
    const named = keys.size - (keys.has(blockedKey(source, '')) ? 1 : 0);
    return named < maxBlockedNames ? username : '';
  }

  function count(key: string, makeEntry: () => Omit<LoginEntry, 'at' | 'times'>, groupMs: number): boolean {
    const group = groups.get(key);
    // One that is over goes with the next writing, a second from now at most.
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
    if (!groups.has(key) && (groups.size >= maxGroups || blockedGroups >= maxGroups / 2)) {
      dropped += 1;
      return;
    }
    const outcome = 'blocked-address';
    const entry = { accountId: name === '' ? null : accountId, username: name, client, outcome } as const;
    if (!count(key, () => entry, BLOCKED_GROUP_MS)) return;
    blockedGroups += 1;
    blocked.set(source, (blocked.get(source) ?? new Set()).add(key));
  }

  return {
    note(outcome, username, accountId, client) {
      onNote(outcome);
      if (outcome === 'blocked-address') return noteBlocked(username, accountId, client);
      const key = `${outcome} ${client} ${username}`;
      if (!groups.has(key) && groups.size >= maxGroups) {
        dropped += 1;
        return;
      }
      count(key, () => ({ accountId, username, client, outcome }), GROUP_MS);
    },

    flush() {
      writing ??= write().finally(() => {
        writing = null;
      });
      return writing;
    },

    dropped: () => dropped,
  };
}

function blockedKey(source: string, username: string): string {
  return `blocked-address ${source} ${username}`;
}
