// Updates the caches of this process with changes that other processes (the command line) made in the database.
import type { Change, ChangeFeed } from '../core/changes.js';
import { createPoller, type Poller } from '../core/poller.js';
import { createReloads, type Reloads } from '../core/reloads.js';
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
/** Reloads of accounts under way at most: one that waits, because this process is changing an account, does not hold up the others. */
const RELOADS_OF_ACCOUNTS = 4;
const PENALTIES_AT_ONCE = 500;

/** `stop` resolves when no reload is running. */
export function followChanges(options: FollowOptions): Pick<Poller, 'start' | 'stop'> {
  const { feed, onError } = options;
  // Each kind is reloaded by itself, beside the reading of further changes: what is slow delays nothing else.
  const accounts = createReloads(options.applyAccounts, onError, {
    atOnce: ACCOUNTS_AT_ONCE,
    underWay: RELOADS_OF_ACCOUNTS,
  });
  const settings = createReloads(([key = '']) => options.applySetting(key), onError);
  const penalties = createReloads(options.applyPenalties, onError, { atOnce: PENALTIES_AT_ONCE });
  const everything = createReloads(reloadEverything, onError);
  const reloads: readonly Reloads[] = [everything, settings, penalties, accounts];
  let isStopping = false;

  async function reloadEverything(): Promise<void> {
    settings.add(options.everySetting());
    accounts.add(await options.everyAccount());
  }

  function take(change: Change): void {
    switch (change.topic) {
      case 'account':
        return accounts.add([change.id]);
      case 'setting':
        return settings.add([change.key]);
      case 'end-session':
        return options.endSession(change.id);
      case 'end-sessions-of-account':
        return options.endAccountSessions(change.id);
      case 'penalty':
        return penalties.add([change.id]);
      case 'revoke-permit':
        return options.revokePermit(change.id);
      case 'everything':
        everything.add([change.topic]);
    }
  }

  async function look(): Promise<void> {
    for (const each of reloads) each.run();
    while (!isStopping) {
      const changes = await feed.next();
      if (changes.length === 0) return;
      for (const change of changes) take(change);
    }
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
      await Promise.all(reloads.map((each) => each.stop()));
    },
  };
}
