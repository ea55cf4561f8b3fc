// What the daemons that share a database tell each other: changes, activity of accounts, penalties.
import { createPenalties, type Penalties } from '../../core/auth/penalties.js';
import { createReloads } from '../../core/nodes/reloads.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import { nodeTimers } from '../../core/time/timers.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import { followChanges } from '../../store/follow-changes.js';
import type { Core, PartDeps } from '../core.js';
import type { HeartbeatsPart } from '../heartbeats.js';
import { createTasks, type Part } from '../lifecycle.js';
import type { SessionsPart } from './sessions.js';

/** How often the database is polled, in ms. The command line promises that changes take effect within a second. */
export function createChangesPart(
  deps: PartDeps<never, keyof Core> & {
    readonly liveSessions: Pick<SessionsPart, 'rewrite' | 'permits'>;
    readonly penalties: Pick<PenaltiesPart, 'read'>;
    readonly plane: Pick<ProxyPlane, 'tell'>;
  },
): Part {
  const { core, liveSessions, penalties, plane, log } = deps;
  const follower = followChanges({
    feed: core.store.changes,
    intervalMs: INTERVAL_MS,
    applyAccounts: core.accounts.refresh,
    applySetting: core.settings.reload,
    endSession: (id) => core.sessions.get(id)?.end('ended-by-operator'),
    endAccountSessions: (id) =>
      plane.tell({ kind: 'end-account', accountId: id, reason: 'ended-by-operator' }),
    applyPenalties: penalties.read,
    revokePermit: (id) => liveSessions.permits?.revoke(id),
    async everyAccount() {
      liveSessions.rewrite();
      await penalties.read();
      log.warn({}, 'changes may be missing; reloading everything');
      const stored = (await core.store.accounts.all()).map(({ id }) => id);
      return [...new Set([...stored, ...Array.from(core.directory.all(), ({ id }) => id)])];
    },
    everySetting: core.settings.keys,
    onError: (error) => log.error({ err: error }, 'applying a change by another process failed'),
    timers: nodeTimers,
  });
  return { name: 'changes', ...follower };
}

/**
 * How often the traffic of this node is written, and that of the others is read, in ms. An account can exceed its quota by at most two
 * seconds of traffic.
 */
const ACTIVITY_INTERVAL_MS = 500;
/** Accounts that one query reloads. */
const MAX_PER_RELOAD = 500;

export function createActivityPart(
  deps: PartDeps<never, 'store' | 'directory' | 'usage' | 'accounts'> & {
    readonly heartbeats: Pick<HeartbeatsPart, 'refresh'>;
  },
): Part {
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
      tasks.every(ACTIVITY_INTERVAL_MS, 'activity of other nodes', read);
      tasks.every(ACTIVITY_INTERVAL_MS, 'traffic', usage.flush);
      tasks.every(MINUTE_MS, 'old activity', feed.trim);
    },
    async stop() {
      await Promise.all([tasks.stop(), accounts.stop(), entries.stop()]);
    },
  };
}

/** How often penalties are published, in ms. */
const INTERVAL_MS = 250;

export type PenaltiesPart = Part & Pick<Penalties, 'of' | 'publish' | 'read'>;

export function createPenaltiesPart(deps: PartDeps<never, 'store'>): PenaltiesPart {
  const store = deps.core.store.penalties;
  const { flush, ...penalties } = createPenalties({ store, monotonicNow: () => performance.now() });
  const tasks = createTasks(deps.log);
  return {
    name: 'penalties',
    ...penalties,
    start() {
      if (store) tasks.every(INTERVAL_MS, 'penalties', flush);
    },
    stop: tasks.stop,
  };
}
