// Applies changes that other processes (such as the command line) make in the database to the memory of the daemon.
import type { Log } from '../../core/log.js';
import { nodeTimers } from '../../core/timers.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import { followChanges } from '../../store/follow-changes.js';
import type { Core } from '../core.js';
import type { Part } from '../lifecycle.js';
import type { PenaltiesPart } from './penalties.js';
import type { SessionsPart } from './sessions.js';

/** How often the database is polled, in ms. The command line promises that changes take effect within a second. */
const INTERVAL_MS = 250;

export function createChangesPart({
  core,
  liveSessions,
  penalties,
  plane,
  log,
}: {
  readonly core: Core;
  readonly liveSessions: Pick<SessionsPart, 'rewrite' | 'permits'>;
  readonly penalties: Pick<PenaltiesPart, 'read'>;
  readonly plane: Pick<ProxyPlane, 'endAccount'>;
  readonly log: Log;
}): Part {
  const follower = followChanges({
    feed: core.store.changes,
    intervalMs: INTERVAL_MS,
    applyAccounts: core.accounts.refresh,
    applySetting: core.settings.reload,
    endSession: (id) => core.sessions.get(id)?.end('ended-by-operator'),
    endAccountSessions: (id) => plane.endAccount(id, 'ended-by-operator'),
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
