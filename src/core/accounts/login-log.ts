// Logins and failures of players: who tried, from where, and what came of it. Grouped before they are written.
import type { Clock } from '../clock.js';

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
  readonly username: string;
  /** Client address. */
  readonly client: string;
  readonly outcome: LoginOutcome;
  /** The same again within a minute is counted together. */
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

interface Group {
  readonly entry: LoginEntry;
  times: number;
  writtenTimes: number;
  /** null: not written yet. */
  place: number | null;
}

/** At most `maxGroups` are remembered; beyond, new ones are given up, so that guessing names fills no memory. */
export function createLoginLog({
  store,
  now,
  maxGroups,
  onNote,
}: {
  store: Pick<LoginStore, 'add' | 'repeated'>;
  now: Clock;
  maxGroups: number;
  /** Called for each login, grouped or not. */
  onNote: (outcome: LoginOutcome) => void;
}): LoginLog {
  const groups = new Map<string, Group>();
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
    const until = now() - GROUP_MS;
    for (const [key, group] of groups) {
      if (group.entry.at <= until && group.times === group.writtenTimes) groups.delete(key);
    }
  }

  return {
    note(outcome, username, accountId, client) {
      onNote(outcome);
      const key = `${outcome} ${client} ${username}`;
      const group = groups.get(key);
      // One that is a minute old goes with the next writing, a second from now at most.
      if (group) {
        group.times += 1;
        return;
      }
      if (groups.size >= maxGroups) {
        dropped += 1;
        return;
      }
      const entry = { at: now(), accountId, username, client, outcome, times: 1 };
      groups.set(key, { entry, times: 1, writtenTimes: 0, place: null });
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
