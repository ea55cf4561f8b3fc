// Updates the caches of this process with changes that other processes (the command line) made in the database.
import type { Change, ChangeFeed } from '../core/changes.js';
import { createPoller, type Poller } from '../core/poller.js';

export interface FollowOptions {
  readonly feed: ChangeFeed;
  /** How often the database is asked, in ms. */
  readonly intervalMs: number;
  /** Takes in some hundreds of changed accounts, each once; a rejection is reported, and they are tried again. */
  readonly applyAccounts: (ids: readonly string[]) => Promise<void>;
  /** Takes in one changed setting; a rejection is reported, and it is tried again. */
  readonly applySetting: (key: string) => Promise<void>;
  /** An operator ends a session, or all of an account, that may be here. */
  readonly endSession: (id: string) => void;
  readonly endAccountSessions: (accountId: string) => void;
  /** Everything may have changed: the ids of all accounts that there are or were. A rejection is reported, and it is tried again. */
  readonly everyAccount: () => Promise<readonly string[]>;
  /** The keys of all settings. */
  readonly everySetting: () => readonly string[];
  readonly onError: (error: unknown) => void;
}

/** Accounts taken in at once: few queries, and logins come in between two. */
const ACCOUNTS_AT_ONCE = 500;

/** `stop` resolves when nothing is under way any more. */
export function followChanges(options: FollowOptions): Pick<Poller, 'start' | 'stop'> {
  const { feed, intervalMs, applyAccounts, applySetting, everyAccount, everySetting, onError } = options;
  // What has changed and is not yet taken in. It is read from the database as it then is: changes of one are one.
  const accounts = new Set<string>();
  const settings = new Set<string>();
  const everything = new Set<string>();
  let isStopping = false;

  /** Hears the next changes and takes in what is due; true when there may be more to hear. */
  async function step(): Promise<boolean> {
    const heard = await feed.next();
    for (const change of heard) note(change);
    for (const topic of [...everything]) await attempt(addEverything, [topic], everything);
    for (const key of [...settings]) await attempt(() => applySetting(key), [key], settings);
    const ids = [...accounts].slice(0, ACCOUNTS_AT_ONCE);
    if (ids.length === 0) return heard.length > 0;
    return attempt(() => applyAccounts(ids), ids, accounts);
  }

  function note(change: Change): void {
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

  const poller = createPoller(intervalMs, look, onError);
  let listener: ReturnType<ChangeFeed['listen']> | null = null;

  /** What is under way may have read before the change that wakes: it is followed by another look. */
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
