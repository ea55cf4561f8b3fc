// Limits failed logins per source, and per user name and source, over all workers. A user name alone is never locked, because
// then anyone could lock a player out.
import { countAttempt, forgiveAttempts } from '../../core/auth/attempt-limit.js';
import type { Penalty } from '../../core/auth/penalties.js';
import { fnv1a } from '../memory/hash.js';
import { type SourceKey, type SourceTable, sourceKey } from '../memory/source-table.js';

export interface LoginGuardOptions {
  /** Maximum number of failed logins of one source within `windowMs`, of all user names. */
  readonly maxFailuresPerSource: number;
  /** Maximum number of failed logins with one user name from one source within `windowMs`. */
  readonly maxFailuresPerUser: number;
  /** The window starts with the first failure; the count is reset at its end. */
  readonly failureWindowMs: number;
  readonly sources: SourceTable;
  readonly names: SourceTable;
  /** Time of a monotonic clock that all workers share, in tenths of a second. */
  readonly now: () => number;
}

export type LoginGuard = ReturnType<typeof createLoginGuard>;

/** In a row's flags: the source is blocked, and that has been reported. */
const BLOCKED = 1;
/** The penalty has been published to the other nodes, or will be soon. */
const PUBLISHED = 2;

export function createLoginGuard(options: LoginGuardOptions) {
  const { sources, names, now } = options;
  const window = Math.ceil(options.failureWindowMs / 100);

  /** Counts an attempt unless the limit is reached. */
  function count(table: SourceTable, key: SourceKey, limit: number): 'counted' | 'block' | 'blocked' {
    const at = now();
    return table.update(key, (row) => {
      if (countAttempt(row, limit, window, at)) {
        if (row.count === 1) row.flags = 0;
        return 'counted';
      }
      const isFirst = (row.flags & BLOCKED) === 0;
      row.flags |= BLOCKED;
      return isFirst ? 'block' : 'blocked';
    });
  }

  function forgive(table: SourceTable, key: SourceKey, attempts: number): void {
    table.update(key, (row) => forgiveAttempts(row, attempts));
  }

  /** How long a key that has just reached its limit is refused, in ms; null: it has not, or this was already returned. */
  function begins(table: SourceTable, key: SourceKey, limit: number): number | null {
    return table.update(key, (row) => {
      if (row.count < limit || (row.flags & PUBLISHED) !== 0) return null;
      row.flags |= PUBLISHED;
      return 100 * (row.endsAt - now());
    });
  }

  function refuse(table: SourceTable, key: SourceKey, limit: number, leftMs: number): void {
    const endsAt = now() + Math.ceil(leftMs / 100);
    table.update(key, (row) => {
      if (row.count >= limit && row.endsAt >= endsAt) return;
      row.count = limit;
      row.endsAt = endsAt;
      row.flags |= PUBLISHED;
    });
  }

  return {
    /**
     * Counts a login before it is checked, so that no burst gets past the limit. 'check': go on, and call `succeeded` if
     * it was right; else it is refused whatever its password: 'block' for the first one of this source, or of this name
     * from it, and 'blocked' for the ones that follow.
     */
    attempt(address: string, username: Uint8Array): 'check' | 'block' | 'blocked' {
      const source = sourceKey(address);
      const name = sourceKey(address, hashName(username));
      if (source === null || name === null) return 'check';
      const ofSource = count(sources, source, options.maxFailuresPerSource);
      const ofName = count(names, name, options.maxFailuresPerUser);
      if (ofSource === 'counted' && ofName === 'counted') return 'check';
      if (ofSource === 'counted') forgive(sources, source, 1);
      if (ofName === 'counted') forgive(names, name, 1);
      return ofSource === 'block' || ofName === 'block' ? 'block' : 'blocked';
    },

    /** The login failed. Returns the penalties that begin with it. */
    failed(address: string, username: Uint8Array): Penalty[] {
      const hash = hashName(username);
      const [source, name] = [sourceKey(address), sourceKey(address, hash)];
      if (source === null || name === null) return [];
      const ofSource = begins(sources, source, options.maxFailuresPerSource);
      const ofName = begins(names, name, options.maxFailuresPerUser);
      return [
        { kind: 'player' as const, subject: address, leftMs: ofSource ?? 0 },
        { kind: 'player-name' as const, subject: `${address} ${hash}`, leftMs: ofName ?? 0 },
      ].filter(({ leftMs }) => leftMs > 0);
    },

    /** Applies a penalty of another node. Ignores penalties of other kinds. */
    penalize({ kind, subject, leftMs }: Penalty): void {
      const [address = '', hash] = subject.split(' ');
      const key = sourceKey(address, Number(hash ?? 0));
      if (key === null) return;
      if (kind === 'player') refuse(sources, key, options.maxFailuresPerSource, leftMs);
      if (kind === 'player-name') refuse(names, key, options.maxFailuresPerUser, leftMs);
    },

    /**
     * Counts a client without credentials, whose address is no account's. It blocks nobody: there is nothing to guess. 'counted':
     * one of the first; 'block': the first of many; 'blocked': one that follows.
     */
    withoutCredentials(address: string): 'counted' | 'block' | 'blocked' {
      const name = sourceKey(address, NO_NAME);
      return name === null ? 'counted' : count(names, name, options.maxFailuresPerUser);
    },

    /** The client sent credentials after they were requested. */
    gaveCredentials(address: string): void {
      const name = sourceKey(address, NO_NAME);
      if (name !== null) forgive(names, name, Number.MAX_SAFE_INTEGER);
    },

    /** As `attempt`, for a login without a password, which is no guess: counts nothing. */
    attemptByAddress(address: string): 'check' | 'block' | 'blocked' {
      const source = sourceKey(address);
      if (source === null) return 'check';
      const verdict = count(sources, source, options.maxFailuresPerSource);
      if (verdict !== 'counted') return verdict;
      forgive(sources, source, 1);
      return 'check';
    },

    succeeded(address: string, username: Uint8Array): void {
      const source = sourceKey(address);
      const name = sourceKey(address, hashName(username));
      // A correct login takes back only its own attempt, so that an attacker cannot reset the count with an own account.
      if (source !== null) forgive(sources, source, 1);
      // A client that knows the password of this user name did not guess it.
      if (name !== null) forgive(names, name, Number.MAX_SAFE_INTEGER);
    },
  };
}

const NO_NAME = hashName(new Uint8Array());

/** A hash that distinguishes user names of one source. The lowest two bits are the family of the address. */
function hashName(name: Uint8Array): number {
  return fnv1a(name) & ~3;
}
