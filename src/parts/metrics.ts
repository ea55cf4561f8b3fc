// Collects the values for /metrics.

import type { SessionRegistry } from '../core/sessions/session-registry.js';
import type { Measured } from '../http/metrics.js';
import type { Core } from './core.js';
import type { StatsPart } from './stats.js';

/** Returns a function that collects the current values; it rejects when the database does not respond. */
export function createMeasure(deps: {
  readonly version: string;
  readonly node: string;
  readonly core: Pick<Core, 'store' | 'pool'>;
  readonly sessions: SessionRegistry;
  readonly engines: () => Measured['workers'];
  readonly listenerCertificates: () => Measured['listenerCertificates'];
  readonly stats: Pick<StatsPart, 'activity' | 'overview'>;
}): () => Promise<Measured> {
  const { version, node, sessions } = deps;
  const { store, pool } = deps.core;
  const { activity, overview } = deps.stats;
  return async () => {
    sessions.count();
    const [{ accounts, runs }, databaseBytes] = await Promise.all([overview(), store.size()]);
    return {
      version,
      node,
      sessions: sessions.size,
      workers: deps.engines(),
      accountsOnline: sessions.accountCount,
      accounts: { enabled: accounts.enabled, disabled: accounts.disabled, expired: accounts.expired },
      bytesUp: activity.totals.bytesUp,
      bytesDown: activity.totals.bytesDown,
      logins: activity.outcomes,
      heartbeats: activity.totals.heartbeats,
      heartbeatsPending: pool.pendingSize,
      heartbeatsDropped: pool.dropped,
      runs: { queued: runs.queued, running: runs.running },
      databaseBytes,
      listenerCertificates: deps.listenerCertificates(),
    };
  };
}
