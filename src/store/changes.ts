// The change log, through which processes that share a database receive each other's changes. Each database reads it differently.
import type { Knex } from 'knex';
import { HOUR_MS } from '../core/clock.js';
import { createTurns } from '../core/turns.js';
import { slices } from './sql/statements.js';

/** How long changes are kept, in ms. A process that has not read for this long reloads everything. */
export const CHANGES_KEPT_MS = HOUR_MS;
/** Most changes that one read returns, so that applying them does not delay logins. */
export const MAX_CHANGES_PER_READ = 500;
/** Rows in one statement; four bound values each. */
const ROWS_PER_STATEMENT = 200;

/** Records changes. Call it with the transaction of the changes, so that readers see both or neither. */
export type RecordChange = (trx: Knex.Transaction, ...changes: readonly RecordedChange[]) => Promise<void>;

/** `everything` is never recorded, only read. */
type RecordedChange = Exclude<Change, { readonly topic: 'everything' }>;

export interface ChangeRow {
  seq: number | string;
  topic: string;
  key: string;
  origin: string;
}

/**
 * @param origin GUID of this process's store: its own changes are not read back
 * @param now the time of a change: by the clock of this process, or of the database
 */
export function createChangeRecorder(origin: string, now: () => number | Knex.Raw): RecordChange {
  return async (trx, ...changes) => {
    const at = now();
    const rows = changes.map((change) => {
      const key = change.topic === 'setting' ? change.key : change.id;
      return { topic: change.topic, key, origin, at };
    });
    for (const slice of slices(rows, ROWS_PER_STATEMENT)) await trx('changes').insert(slice);
  };
}

/** Converts a row; empty for a topic of a newer version. */
export function toChange(row: Pick<ChangeRow, 'topic' | 'key'>): Change[] {
  const { topic, key } = row;
  if (topic === 'setting') return [{ topic, key }];
  if (
    topic === 'account' ||
    topic === 'end-session' ||
    topic === 'end-sessions-of-account' ||
    topic === 'revoke-permit' ||
    topic === 'penalty'
  )
    return [{ topic, id: key }];
  return [];
}

/** Runs one call of `read` at a time: two concurrent calls would return the same changes. */
export function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  const inTurn = createTurns();
  return () => inTurn('read', read);
}

/** A change that another process (the command line, another daemon) made in the database. */
export type Change =
  | { readonly topic: 'account'; readonly id: string }
  | { readonly topic: 'setting'; readonly key: string }
  /** An operator ends a session, or all of an account, that may be at this node. */
  | { readonly topic: 'end-session' | 'end-sessions-of-account'; readonly id: string }
  /** The permit of a session, maybe of this node, is beyond the limits of its account. */
  | { readonly topic: 'revoke-permit'; readonly id: string }
  /** A source is refused because of failed attempts at another node. `id`: the key of the penalty. */
  | { readonly topic: 'penalty'; readonly id: string }
  /** This process missed changes that are no longer kept, or the database was replaced: everything may have changed. */
  | { readonly topic: 'everything' };

export interface ChangeFeed {
  /**
   * The next changes by other processes, oldest first, each returned once; at most some hundreds. Empty only when there are no more.
   */
  next(): Promise<Change[]>;
  /** Calls `wake` when the database notifies of changes. Notifications may be lost, so also call `next` periodically. */
  listen(wake: () => void): { stop(): Promise<void> };
}
