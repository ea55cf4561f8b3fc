// Follows the activity of accounts on the other nodes: counts their traffic towards quotas, and updates logins and heartbeat totals.
import { MINUTE_MS } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { createReloads } from '../../core/reloads.js';
import type { Core } from '../core.js';
import type { HeartbeatsPart } from '../heartbeats.js';
import type { Part } from '../lifecycle.js';
import { createTasks } from '../lifecycle.js';

/**
 * How often the traffic of this node is written, and that of the others is read, in ms. An account can exceed its quota by at most two
 * seconds of traffic.
 */
const INTERVAL_MS = 500;
/** Accounts that one query reloads. */
const MAX_PER_RELOAD = 500;

export function createActivityPart(deps: {
  readonly core: Pick<Core, 'store' | 'directory' | 'usage' | 'accounts'>;
  readonly heartbeats: Pick<HeartbeatsPart, 'refresh'>;
  readonly log: Log;
}): Part {
  const { log, heartbeats } = deps;
  const { store, directory, usage } = deps.core;
  const feed = store.activity;
  if (!feed) return { name: 'activity' };
  const tasks = createTasks(log);
  const reportFailed = (err: unknown): void =>
    log.error({ err }, 'reading what other nodes counted failed; will retry');
  // These reloads wait for this node's own writes. The traffic of other nodes must not wait for them, because quotas depend on it.
  const accounts = createReloads(deps.core.accounts.refresh, reportFailed, { maxKeys: MAX_PER_RELOAD });
  const entries = createReloads(heartbeats.refresh, reportFailed, { maxKeys: MAX_PER_RELOAD });

  async function read(): Promise<void> {
    if (!feed) return;
    for (const each of [accounts, entries]) each.run();
    const { activity, upTo, hasMissed } = await feed.next();
    if (hasMissed) {
      const ids = Array.from(directory.all(), ({ id }) => id);
      for (const each of [accounts, entries]) each.add(ids);
      return;
    }
    usage.addElsewhere(
      activity.filter((each) => each.kind === 'traffic'),
      upTo,
    );
    for (const each of activity)
      if (each.kind === 'login') directory.loggedInElsewhere(each.accountId, each.at);
    entries.add(activity.flatMap((each) => (each.kind === 'heartbeats' ? each.accountId : [])));
  }

  return {
    name: 'activity',
    start() {
      tasks.every(INTERVAL_MS, 'activity of other nodes', read);
      tasks.every(INTERVAL_MS, 'traffic', usage.flush);
      tasks.every(MINUTE_MS, 'old activity', feed.trim);
    },
    async stop() {
      await Promise.all([tasks.stop(), accounts.stop(), entries.stop()]);
    },
  };
}
