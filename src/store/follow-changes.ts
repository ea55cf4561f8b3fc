// Updates the caches of this process with changes that other processes (the command line, other daemons) made in the database.
import type { Knex } from 'knex';
import { createReloads, type Reloads } from '../core/nodes/reloads.js';
import { HOUR_MS } from '../core/time/clock.js';
import { createPoller, type Poller, type Timers } from '../core/time/timers.js';
import { createTurns } from '../core/time/turns.js';
import { jsonText } from './sql.js';

/** How long changes are kept, in ms. A process that has not read for this long reloads everything. */
export const CHANGES_KEPT_MS = HOUR_MS;
/** Most changes that one read returns, so that applying them does not delay logins. */
export const MAX_CHANGES_PER_READ = 500;

/** Topics of changes that processes record, with what their key is. */
const TOPICS = [
  /** The id of an account. */
  'account',
  'setting',
  /** The id of a session, maybe of this node, that an operator ends. */
  'end-session',
  /** The id of an account, all sessions of which an operator ends. */
  'end-sessions-of-account',
  /** The id of a session, maybe of this node, whose permit is beyond the limits of its account. */
  'revoke-permit',
  /** The key of the penalty of a source that is refused because of failed attempts at another node. */
  'penalty',
] as const;

type Topic = (typeof TOPICS)[number];

/** A change that another process (the command line, another daemon) made in the database. */
export type Change =
  | { readonly topic: Topic; readonly key: string }
  /** This process missed changes that are no longer kept, or the database was replaced: everything may have changed. */
  | { readonly topic: 'everything' };

/** Records changes. Call it with the transaction of the changes, so that readers see both or neither. */
export type RecordChange = (trx: Knex.Transaction, topic: Topic, ...keys: readonly string[]) => Promise<void>;

export interface ChangeRow {
  seq: number | string;
  topic: string;
  key: string;
  origin: string;
}

/**
 * @param origin GUID of this process's store: its own changes are not read back
 * @param isShared as of Database
 * @param now the time of a change: by the clock of this process, or of the database
 */
export function createChangeRecorder(
  origin: string,
  isShared: boolean,
  now: () => number | Knex.Raw,
): RecordChange {
  const each = isShared ? 'jsonb_array_elements_text(?::jsonb)' : 'json_each(?)';
  return async (trx, topic, ...keys) => {
    if (keys.length === 0) return;
    await trx.raw(
      `insert into changes (topic, key, origin, at)
       select cast(? as varchar), value, cast(? as varchar), cast(? as bigint) from ${each}`,
      [topic, origin, now(), jsonText(keys)],
    );
  };
}

/** Converts a row; empty for a topic of a newer version. */
export function toChange({ topic: name, key }: Pick<ChangeRow, 'topic' | 'key'>): Change[] {
  const topic = TOPICS.find((each) => each === name);
  return topic ? [{ topic, key }] : [];
}

/** Runs one call of `read` at a time: two concurrent calls would return the same changes. */
export function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  const inTurn = createTurns();
  return () => inTurn('read', read);
}

export interface ChangeFeed {
  /**
   * The next changes by other processes, oldest first, each returned once; at most some hundreds. Empty only when there are no more.
   */
  next(): Promise<Change[]>;
  /** Calls `wake` when the database notifies of changes. Notifications may be lost, so also call `next` periodically. */
  listen(wake: () => void): { stop(): Promise<void> };
}

/** Accounts reloaded by one call: large enough for few queries, small enough not to delay logins. */
const MAX_ACCOUNTS_PER_RELOAD = 500;
/** Concurrent reloads of accounts: a reload that waits until this process has changed an account must not delay the others. */
const MAX_ACCOUNT_RELOADS = 4;
const MAX_PENALTIES_PER_RELOAD = 500;

/** `stop` resolves when no reload is running. */
export function followChanges(options: {
  readonly feed: ChangeFeed;
  /** Polling interval, in ms. */
  readonly intervalMs: number;
  /** Reloads up to some hundreds of changed accounts. A rejection is reported, and the reload is retried. */
  readonly applyAccounts: (ids: readonly string[]) => Promise<void>;
  /** Reloads one changed setting. A rejection is reported, and the reload is retried. */
  readonly applySetting: (key: string) => Promise<void>;
  /** Reads penalties of other nodes by their keys. A rejection is reported, and the read is retried. */
  readonly applyPenalties: (keys: readonly string[]) => Promise<void>;
  /** Called when an operator ends a session, or all sessions of an account, that may be on this node. */
  readonly endSession: (id: string) => void;
  readonly endAccountSessions: (accountId: string) => void;
  /** Called when the permit of a session, possibly of this node, exceeds the limits of its account. */
  readonly revokePermit: (id: string) => void;
  /** Returns the ids of all accounts, stored or cached, after changes were missed. A rejection is reported, and the call is retried. */
  readonly everyAccount: () => Promise<readonly string[]>;
  readonly everySetting: () => readonly string[];
  readonly onError: (error: unknown) => void;
  readonly timers: Timers;
}): Pick<Poller, 'start' | 'stop'> {
  const { feed, onError } = options;
  // Each kind is reloaded separately, concurrently with reading further changes, so that a slow kind does not delay others.
  const accounts = createReloads(options.applyAccounts, onError, {
    maxKeys: MAX_ACCOUNTS_PER_RELOAD,
    maxConcurrent: MAX_ACCOUNT_RELOADS,
  });
  const settings = createReloads(([key = '']) => options.applySetting(key), onError);
  const penalties = createReloads(options.applyPenalties, onError, { maxKeys: MAX_PENALTIES_PER_RELOAD });
  const everything = createReloads(reloadEverything, onError);
  const reloads: readonly Reloads[] = [everything, settings, penalties, accounts];
  let isStopping = false;

  async function reloadEverything(): Promise<void> {
    settings.add(options.everySetting());
    accounts.add(await options.everyAccount());
  }

  const enqueue: Readonly<Record<Topic, (key: string) => void>> = {
    account: (id) => accounts.add([id]),
    setting: (key) => settings.add([key]),
    'end-session': options.endSession,
    'end-sessions-of-account': options.endAccountSessions,
    'revoke-permit': options.revokePermit,
    penalty: (key) => penalties.add([key]),
  };

  async function applyAll(): Promise<void> {
    for (const each of reloads) each.run();
    while (!isStopping) {
      const changes = await feed.next();
      if (changes.length === 0) return;
      for (const change of changes)
        if (change.topic === 'everything') everything.add([change.topic]);
        else enqueue[change.topic](change.key);
    }
  }

  const poller = createPoller({ ...options, poll: applyAll });
  let listener: ReturnType<ChangeFeed['listen']> | null = null;

  /** Polls twice, because a running poll may have begun before the change. */
  function wake(): void {
    void poller.poll().then(poller.poll);
  }

  return {
    start() {
      listener = feed.listen(wake);
      poller.start();
    },
    async stop() {
      isStopping = true;
      await listener?.stop();
      await poller.stop();
      await Promise.all(reloads.map((each) => each.stop()));
    },
  };
}
