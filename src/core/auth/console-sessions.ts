// Console sessions: a random cookie value, stored as a hash, with an idle and an absolute time limit. A session ends when the
// credentials of its user (user name, password, role, second factor) change.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../time/clock.js';
import type { Operator } from './operator.js';
import { fingerprintOf } from './people-passwords.js';

export interface ConsoleSession {
  /** SHA-256 of the cookie value, hexadecimal. The value itself is not stored. */
  readonly hash: string;
  readonly username: string;
  readonly address: string;
  readonly createdAt: number;
  readonly usedAt: number;
  /** When the user last gave the password or a one-time code: the sign-in, or a later confirmation. */
  readonly confirmedAt: number;
  /** Fingerprint of the credentials at the sign-in; null for a session of an older version. */
  readonly credentials: string | null;
  /** Who signed in; null: the administrator. */
  readonly operatorId: string | null;
}

export type SessionCredentials = Pick<ConsoleSession, 'hash' | 'credentials'>;

export const CONSOLE_SESSIONS_KEY = 'console-sessions';

export interface ConsoleSessionStore {
  all(): Promise<ConsoleSession[]>;
  get(hash: string): Promise<ConsoleSession | null>;
  /** Returns false, and writes nothing, when `operator` is no longer stored like this: enabled, with this name and role. */
  add(session: ConsoleSession, operator: Pick<Operator, 'id' | 'name' | 'role'> | null): Promise<boolean>;
  used(hash: string, at: number): Promise<void>;
  confirmed(hash: string, at: number): Promise<void>;
  /** Stores a session with new credentials, even if another daemon has just removed it because of the change. */
  renew(session: ConsoleSession): Promise<void>;
  remove(hashes: readonly string[]): Promise<void>;
}

const VALUE_BYTES = 32;
/** How often the time of the last use is written. A restart loses at most this much. */
const USE_WRITTEN_EVERY_MS = 60_000;

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

export function createConsoleSessions(options: {
  readonly store: ConsoleSessionStore;
  readonly now: Clock;
  /** Fingerprint of the current credentials; null: the operator is disabled or does not exist. */
  readonly credentials: (operatorId: string | null) => string | null;
  /** A session without requests ends after this time. */
  readonly idleMs: number;
  /** A session ends at this age, also when it is in use. */
  readonly maxAgeMs: number;
  readonly confirmForMs: number;
  /** Maximum number of sessions of one user; a new one ends the least recently used. */
  readonly maxSessions: number;
  readonly onError: (error: unknown) => void;
}) {
  const { store, now, onError } = options;
  const open = new Map<string, ConsoleSession>();
  const usedWritten = new Map<string, number>();
  /** Raised by each removal from the database, also by another process. What was read before one may contain the removed session, which must stay closed. */
  let removals = 0;

  const isInTime = ({ createdAt, usedAt }: ConsoleSession, at: number): boolean =>
    at - usedAt < options.idleMs && at - createdAt < options.maxAgeMs;
  const isValid = (session: ConsoleSession, at: number): boolean =>
    isInTime(session, at) &&
    session.credentials !== null &&
    session.credentials === options.credentials(session.operatorId);
  const sessionsOf = (operatorId: string | null): ConsoleSession[] =>
    [...open.values()].filter((session) => session.operatorId === operatorId);

  async function forget(hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    const close = () => {
      for (const hash of hashes) {
        open.delete(hash);
        usedWritten.delete(hash);
      }
    };
    close();
    await store.remove(hashes);
    // Another request may have read a session from the database before it was removed there.
    close();
    removals += 1;
  }

  /** Reads again when a session was removed during the read. */
  async function readStored<Value>(read: () => Promise<Value>): Promise<Value> {
    for (;;) {
      const before = removals;
      const stored = await read();
      if (before === removals) return stored;
    }
  }

  function current(hash: string): ConsoleSession | null {
    const session = open.get(hash);
    if (!session) return null;
    const at = now();
    if (isValid(session, at)) return session;
    // A session with outdated credentials may be the one that changed them: `keepOnly` decides.
    // A session that is idle at this daemon may be in use at another one: `read` checks the database.
    if (!isInTime(session, at)) open.delete(hash);
    return null;
  }

  function recordUse(session: ConsoleSession): ConsoleSession {
    const at = now();
    const used = { ...session, usedAt: at };
    open.set(session.hash, used);
    if (at - (usedWritten.get(session.hash) ?? 0) >= USE_WRITTEN_EVERY_MS) {
      usedWritten.set(session.hash, at);
      store.used(session.hash, at).catch(onError);
    }
    return used;
  }

  /** By the difference to now, so that a clock that was set back ends a confirmation. */
  const confirmedUntil = (session: ConsoleSession | null | undefined): number | null =>
    session && Math.abs(now() - session.confirmedAt) < options.confirmForMs
      ? session.confirmedAt + options.confirmForMs
      : null;

  /** Keeps the later time of use when two daemons know the session. */
  function hold(stored: ConsoleSession): void {
    const usedAt = Math.max(stored.usedAt, open.get(stored.hash)?.usedAt ?? 0);
    open.set(stored.hash, { ...stored, usedAt });
  }

  return {
    key: CONSOLE_SESSIONS_KEY,

    async reload() {
      const stored = await readStored(store.all);
      const at = now();
      const hashes = new Set(stored.map(({ hash }) => hash));
      for (const hash of open.keys()) if (!hashes.has(hash)) open.delete(hash);
      for (const session of stored) if (isValid(session, at)) hold(session);
      await forget(stored.filter((session) => !isInTime(session, at)).map(({ hash }) => hash));
      removals += 1;
    },

    /**
     * Opens a session; returns its cookie value. `credentials`: the fingerprint when the password was checked. Returns null when they
     * have changed since. @param operator null: the administrator
     */
    async open(
      username: string,
      operator: Pick<Operator, 'id' | 'name' | 'role'> | null,
      address: string,
      credentials: string,
    ): Promise<string | null> {
      const operatorId = operator?.id ?? null;
      const value = randomBytes(VALUE_BYTES).toString('base64url');
      const at = now();
      const session = {
        hash: fingerprintOf(value),
        username,
        address,
        createdAt: at,
        usedAt: at,
        confirmedAt: at,
        credentials,
        operatorId,
      };
      const others = sessionsOf(operatorId);
      const surplus = others
        .sort((a, b) => a.usedAt - b.usedAt)
        .slice(0, Math.max(0, others.length + 1 - options.maxSessions));
      await forget(surplus.map(({ hash }) => hash));
      // Another process may have changed the operator, which this one does not know yet.
      if (!(await store.add(session, operator))) return null;
      if (options.credentials(operatorId) !== credentials) {
        await store.remove([session.hash]);
        return null;
      }
      open.set(session.hash, session);
      usedWritten.set(session.hash, at);
      return value;
    },

    /** The session of a cookie value, if it is valid; counts as use. */
    find(value: string): ConsoleSession | null {
      const session = current(fingerprintOf(value));
      return session && recordUse(session);
    },

    /** Like `find`, for a session that another daemon has just opened: reads the database. Rejects when it cannot be read. */
    async read(value: string): Promise<ConsoleSession | null> {
      const hash = fingerprintOf(value);
      const stored = await readStored(() => store.get(hash));
      if (!stored) return null;
      if (!isInTime(stored, now())) {
        await forget([stored.hash]);
        return null;
      }
      hold(stored);
      const session = current(stored.hash);
      return session && recordUse(session);
    },

    /** Whether a session is valid; does not count as use. */
    isOpen: (hash: string): boolean => current(hash) !== null,
    close: (hash: string): Promise<void> => forget([hash]),

    /** Records that the user has given the password or a one-time code again. Returns until when the session is confirmed. */
    async confirm(hash: string): Promise<number> {
      const at = now();
      await store.confirmed(hash, at);
      const session = open.get(hash);
      if (session) open.set(hash, { ...session, confirmedAt: at });
      return at + options.confirmForMs;
    },

    /** Until when the session is confirmed, as far as this daemon knows; null: it is not. */
    confirmedUntil: (hash: string): number | null => confirmedUntil(open.get(hash)),
    /** Whether the session is confirmed. Asks the database when this daemon knows of no confirmation: another one may. */
    isConfirmed: async (hash: string): Promise<boolean> =>
      (confirmedUntil(open.get(hash)) ?? confirmedUntil(await store.get(hash))) !== null,

    /**
     * After a change of a user's credentials, which has removed all sessions of the user from the database: ends them here, except
     * `kept`, which it stores again; null ends all. `kept` is the session that made the change, with the fingerprint right before it.
     * It ends too when it was not valid then.
     */
    async keepOnly(operatorId: string | null, session: SessionCredentials | null): Promise<void> {
      const known = session === null ? undefined : open.get(session.hash);
      const kept = known && known.credentials === session?.credentials ? known : undefined;
      for (const { hash } of sessionsOf(operatorId)) open.delete(hash);
      removals += 1;
      if (!kept) return;
      const renewed = { ...kept, credentials: options.credentials(operatorId) };
      open.set(kept.hash, renewed);
      await store.renew(renewed);
    },

    /** Ends the sessions whose credentials another process has changed; returns how many. */
    sweep(): number {
      const at = now();
      const ended = [...open.values()].filter((session) => !isValid(session, at));
      // The change has removed them from the database. `keepOnly` stores the session that made it again.
      for (const { hash } of ended) open.delete(hash);
      return ended.length;
    },
  };
}
