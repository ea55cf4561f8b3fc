// What accounts do at the other nodes: their traffic counts against quotas here, and their logins and entries are shown.
import { MINUTE_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';
import type { Core } from './core.js';
import type { HeartbeatsPart } from './heartbeats.js';
import type { Part } from './lifecycle.js';
import { createTasks } from './tasks.js';

/** How often this node's traffic is written, and that of the others is read, in ms: a quota is passed by two seconds of traffic at most. */
const INTERVAL_MS = 500;
/** Accounts that are read again at once. */
const AT_ONCE = 500;

export function createActivityPart(uses: {
  readonly core: Pick<Core, 'store' | 'directory' | 'usage' | 'accounts'>;
  readonly heartbeats: Pick<HeartbeatsPart, 'refresh'>;
  readonly log: Log;
}): Part {
  const { log, heartbeats } = uses;
  const { store, directory, usage, accounts } = uses.core;
  const feed = store.activity;
  if (!feed) return { name: 'activity', stop() {} };
  const tasks = createTasks(log);

  /** Accounts whose entries are to be counted again; those of a read that failed wait for the next one. */
  const recounted = new Set<string>();
  let hasMissedSome = false;

  async function read(): Promise<void> {
    if (!feed) return;
    const { activity, upTo, hasMissed } = await feed.next();
    hasMissedSome ||= hasMissed;
    if (hasMissedSome) {
      await readEverything();
      hasMissedSome = false;
      return;
    }
    usage.movedElsewhere(
      activity.filter((each) => each.kind === 'traffic'),
      upTo,
    );
    for (const each of activity) {
      if (each.kind === 'login') directory.loggedInElsewhere(each.accountId, each.at);
      if (each.kind === 'heartbeats') recounted.add(each.accountId);
    }
    const ids = [...recounted];
    if (ids.length === 0) return;
    await heartbeats.refresh(ids);
    for (const id of ids) recounted.delete(id);
  }

  async function readEverything(): Promise<void> {
    const ids = Array.from(directory.all(), ({ id }) => id);
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      await accounts.refresh(some);
      await heartbeats.refresh(some);
    }
  }

  return {
    name: 'activity',
    start() {
      tasks.every(INTERVAL_MS, 'activity of other nodes', read);
      tasks.every(INTERVAL_MS, 'traffic', usage.flush);
      tasks.every(MINUTE_MS, 'old activity', feed.trim);
    },
    stop: tasks.stop,
  };
}
