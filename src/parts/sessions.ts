// The live sessions of all nodes: this one's are written for the others, and what those have is read for counts.

import { NO_LIMITS } from '../core/accounts/limits.js';
import { MINUTE_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { createPoller } from '../core/poller.js';
import { createLiveSessions, type LiveSessions } from '../core/sessions/live-sessions.js';
import { SessionReporter } from '../core/sessions/session-reporter.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';
import type { NodePart } from './node.js';
import type { StatsPart } from './stats.js';
import { createTimers } from './timers.js';

/** How often this node's sessions are written, in ms. */
const WRITE_EVERY_MS = 500;
/** How often the accounts at other nodes are counted, in ms. */
const COUNT_EVERY_MS = 500;

export interface SessionsPart extends Part {
  readonly live: LiveSessions;
  /** null: this is the only node. */
  readonly reporter: Pick<SessionReporter, 'writeAnew'> | null;
}

export function createSessionsPart(uses: {
  readonly core: Pick<Core, 'store' | 'sessions' | 'directory'>;
  readonly stats: Pick<StatsPart, 'activity' | 'changes'>;
  readonly node: Pick<NodePart, 'nodeName'>;
  readonly log: Log;
}): SessionsPart {
  const { core, stats, node, log } = uses;
  const { sessions, directory } = core;
  const store = core.store.liveSessions;
  const rateOf = (id: string) => stats.activity.rateOf(id);
  const live = createLiveSessions({ sessions, store, rateOf, node: node.nodeName });
  if (!store) return { name: 'sessions', live, reporter: null, stop: () => undefined };

  const reporter = new SessionReporter(store, rateOf);
  sessions.subscribe(reporter);
  const timers = createTimers(log);
  const onError = (): void => undefined;
  const writer = createPoller(
    WRITE_EVERY_MS,
    () => timers.attempt('live sessions', reporter.flush.bind(reporter)),
    onError,
  );
  const counter = createPoller(COUNT_EVERY_MS, count, onError);

  /** Limits of accounts depend on it. When the database is away the counts of before stay. */
  async function count(): Promise<void> {
    const before = sessions.elsewhere.size;
    for (const id of sessions.elsewhere.set(await (store?.byAccount() ?? []))) {
      const account = directory.byId(id);
      if (account && account.limits !== NO_LIMITS) directory.surroundingsChanged(account);
    }
    if (before !== sessions.elsewhere.size) stats.changes.notify('sessions');
  }

  return {
    name: 'sessions',
    live,
    reporter,
    async start() {
      writer.start();
      counter.start();
      timers.every(MINUTE_MS, () => void timers.attempt('sessions of lost nodes', () => store.trim()));
      await store.trim();
    },
    async stop() {
      timers.stop();
      await Promise.all([writer.stop(), counter.stop()]);
    },
  };
}
