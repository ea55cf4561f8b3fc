// The live sessions of all nodes: writes the sessions of this node for the others, and reads the counts of the other nodes.
import { createSessionPermits } from '../../core/accounts/access/session-permits.js';
import { type AccountLimits, NO_LIMITS } from '../../core/accounts/usage/limits.js';
import { createLiveSessions, SessionReporter } from '../../core/sessions/live-sessions.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import { nodeTimers } from '../../core/time/timers.js';
import type { PartDeps } from '../core.js';
import { createTasks } from '../lifecycle.js';
import type { StatsPart } from '../stats.js';
import type { NodePart } from './node.js';

/** How often this node's sessions are written, in ms. */
const WRITE_EVERY_MS = 500;
/** How often the sessions of accounts on other nodes are counted, in ms. */
const COUNT_EVERY_MS = 500;

/** Whether sessions within the former limits may exceed the new ones. */
const isLowered = (before: AccountLimits, after: AccountLimits): boolean =>
  (after.maxSessions ?? Number.POSITIVE_INFINITY) < (before.maxSessions ?? Number.POSITIVE_INFINITY) ||
  (after.maxClientAddresses ?? Number.POSITIVE_INFINITY) <
    (before.maxClientAddresses ?? Number.POSITIVE_INFINITY);

export type SessionsPart = ReturnType<typeof createSessionsPart>;

export function createSessionsPart(
  deps: PartDeps<'database' | 'node', 'store' | 'sessions' | 'directory'> & {
    readonly stats: Pick<StatsPart, 'activity' | 'changes'>;
    readonly node: Pick<NodePart, 'nodeName'>;
  },
) {
  const { config, core, stats, node, log } = deps;
  const { sessions, directory } = core;
  const store = core.store.liveSessions;
  const rateOf = (id: string) => stats.activity.rateOf(id);
  const live = createLiveSessions({ sessions, store, rateOf, node: node.nodeName });
  const permitStore = core.store.permits;
  if (!store || !permitStore) {
    return { name: 'sessions', live, permits: null, rewrite() {} };
  }

  const reporter = new SessionReporter(store, rateOf);
  sessions.subscribe(reporter);
  const permits = createSessionPermits({
    store: permitStore,
    limitsOf: (id) => directory.byId(id)?.limits ?? NO_LIMITS,
    timeoutMs: config.database.answerTimeoutMs,
    leaseMs: config.node.leaseMs,
    timers: nodeTimers,
    log,
  });
  directory.onChanged(({ id, before, after }) => {
    if (before && after && isLowered(before.limits, after.limits)) permits.enforce(id);
  });
  const tasks = createTasks(log);

  /** Updates the counts of other nodes, on which account limits depend. While the database does not answer they stay unchanged. */
  async function count(): Promise<void> {
    const before = sessions.elsewhere.size;
    for (const id of sessions.elsewhere.set(await (store?.byAccount() ?? []))) {
      const account = directory.byId(id);
      if (account && account.limits !== NO_LIMITS) directory.usageChanged(account);
    }
    if (before !== sessions.elsewhere.size) stats.changes.notify('sessions');
  }

  async function trim(): Promise<void> {
    await store?.trim();
    await permitStore?.trim();
  }

  return {
    name: 'sessions',
    live,
    /** null: this is the only node, which counts its sessions itself. */
    permits,
    /** Writes all sessions and permits of this node again, because the database may have lost them. Does nothing on the only node. */
    rewrite(): void {
      reporter.rewrite();
      permits.rewrite();
    },
    async start() {
      tasks.every(WRITE_EVERY_MS, 'live sessions', () => reporter.flush());
      tasks.every(COUNT_EVERY_MS, 'sessions of other nodes', count);
      tasks.every(MINUTE_MS, 'sessions of lost nodes', trim);
      permits.start();
      await trim();
    },
    async stop() {
      await Promise.all([tasks.stop(), permits.stop()]);
    },
  };
}
