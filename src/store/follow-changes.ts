// Updates the caches of this process with changes that other processes (the command line) made in the database.
import type { Change, ChangeFeed } from '../core/changes.js';
import { createPoller, type Poller } from '../core/poller.js';
import type { Timers } from '../core/timers.js';

export interface FollowOptions {
  readonly feed: ChangeFeed;
  /** Polling interval, in ms. */
  readonly intervalMs: number;
  /** Reloads up to some hundreds of changed accounts. A rejection is reported, and they are tried again. */
  readonly applyAccounts: (ids: readonly string[]) => Promise<void>;
  /** Reloads one changed setting. A rejection is reported, and it is tried again. */
  readonly applySetting: (key: string) => Promise<void>;
  /** Reads penalties of other nodes by their keys. A rejection is reported, and they are tried again. */
  readonly applyPenalties: (keys: readonly string[]) => Promise<void>;
  /** An operator asked to end a session, or all sessions of an account; they may be on this node. */
  readonly endSession: (id: string) => void;
  readonly endAccountSessions: (accountId: string) => void;
  /** The permit of a session, maybe of this node, is beyond the limits of its account. */
  readonly revokePermit: (id: string) => void;
  /** The ids of all accounts, stored or cached, for when anything may have changed. A rejection is reported, and it is tried again. */
  readonly everyAccount: () => Promise<readonly string[]>;
  /** The keys of all settings. */
  readonly everySetting: () => readonly string[];
  readonly onError: (error: unknown) => void;
  readonly timers: Timers;
}

/** Accounts reloaded at once: few queries, and logins can be served between two. */
const ACCOUNTS_AT_ONCE = 500;

/** `stop` resolves when no reload is running. */
export function followChanges(options: FollowOptions): Pick<Poller, 'start' | 'stop'> {
  const { feed, applyAccounts, applySetting, everyAccount, everySetting, onError } = options;
  // What has changed and is not yet reloaded. A reload reads the current state, so that several changes need one reload.
  const accounts = new Set<string>();
  const settings = new Set<string>();
  const penalties = new Set<string>();
  const everything = new Set<string>();
  let isStopping = false;

  /** Reads the next changes and reloads what is due; true when there may be more. */
  async function step(): Promise<boolean> {
    const changes = await feed.next();
    for (const change of changes) enqueue(change);
    for (const topic of [...everything]) await attempt(addEverything, [topic], everything);
    for (const key of [...settings]) await attempt(() => applySetting(key), [key], settings);
    const keys = [...penalties];
    if (keys.length > 0) await attempt(() => options.applyPenalties(keys), keys, penalties);
    const ids = [...accounts].slice(0, ACCOUNTS_AT_ONCE);
    if (ids.length === 0) return changes.length > 0;
    return attempt(() => applyAccounts(ids), ids, accounts);
  }

  function enqueue(change: Change): void {
    switch (change.topic) {
      case 'account':
        accounts.add(change.id);
        break;
      case 'setting':
        settings.add(change.key);
        break;
      case 'end-session':
        options.endSession(change.id);
        break;
      case 'end-sessions-of-account':
        options.endAccountSessions(change.id);
        break;
      case 'penalty':
        penalties.add(change.id);
        break;
      case 'revoke-permit':
        options.revokePermit(change.id);
        break;
      case 'everything':
        everything.add(change.topic);
    }
  }

  async function addEverything(): Promise<void> {
    for (const key of everySetting()) settings.add(key);
    for (const id of await everyAccount()) accounts.add(id);
  }

  async function attempt(
    work: () => Promise<void>,
    about: readonly string[],
    due: Set<string>,
  ): Promise<boolean> {
    try {
      await work();
      for (const each of about) due.delete(each);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  async function look(): Promise<void> {
    while (!isStopping && (await step()));
  }

  const poller = createPoller({ ...options, poll: look });
  let listener: ReturnType<ChangeFeed['listen']> | null = null;

  /** A running read may have begun before the change: another one follows it. */
  function wake(): void {
    void poller.ask().then(poller.ask);
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
    },
  };
}
