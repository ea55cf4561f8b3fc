// Serves the routes of /api/v1, each with the services that its caller may use.
import type Router from '@koa/router';
import type { Accounts } from '../../core/accounts/accounts.js';
import { accountsOfSeller } from '../../core/accounts/owned-accounts.js';
import type { AuditStore } from '../../core/audit/audit.js';
import { sessionsOfSeller } from '../../core/sessions/live-sessions.js';
import { serveRoutes } from '../api/serve.js';
import { createBodyReader, type ReadJsonObject } from '../body.js';
import type { AdminState, Caller } from '../caller.js';
import type { Services, Watched } from '../services.js';
import { routes } from './routes.js';

/** @param maxBulkBodyBytes size of the largest body of a request about many accounts */
export function serveApi(
  router: Router<AdminState>,
  services: Services,
  { readJsonObject, maxBulkBodyBytes }: { readJsonObject: ReadJsonObject; maxBulkBodyBytes: number },
): void {
  serveRoutes(router, routes, (caller) => restrictedTo(caller, services), {
    unknownFields: 'refused',
    readJsonObject,
    lostAccess: services.lostAccess,
    isConfirmed: async ({ via, key }) => via !== 'console' || services.consoleSessions.isConfirmed(key ?? ''),
    readBulkJsonObject: createBodyReader(maxBulkBodyBytes),
  });
}

/** For an operator: its own entries of the audit log, and for a seller its own accounts. */
function restrictedTo(caller: Caller | undefined, services: Services): Services {
  if (!caller?.operator) return services;
  const { id, role } = caller.operator;
  const audit = auditOf(services.audit, id);
  if (role !== 'seller') return { ...services, audit };
  const owner = id;
  const accounts = accountsOfSeller(services.accounts, owner);
  const { logins, heartbeats, heartbeatSums, events } = services;
  return {
    ...services,
    audit,
    accounts,
    liveSessions: sessionsOfSeller(services.liveSessions, (id) => accounts.get(id) !== null),
    logins: {
      list: (filter, before, limit) => logins.list({ ...filter, owner }, before, limit),
      count: (filter) => logins.count({ ...filter, owner }),
    },
    heartbeats: { list: (filter, before, limit) => heartbeats.list({ ...filter, owner }, before, limit) },
    heartbeatSums: {
      series: (range, by, limit) => heartbeatSums.series(range, by, limit, owner),
      largest: (range, by, limit) => heartbeatSums.largest(range, by, limit, owner),
    },
    events: { ...events, open: (watcher) => events.open(watcher, watchedBy(services.accounts, accounts)) },
  };
}

/** Returns an audit log that lists only the operator's own actions. */
function auditOf(audit: AuditStore, operatorId: string): AuditStore {
  return {
    ...audit,
    list: (filter, before, limit) => audit.list({ ...filter, operatorId }, before, limit),
    count: (filter) => audit.count({ ...filter, operatorId }),
  };
}

/** Returns a seller's filter of events. A change without an id only means that a page may have something new. */
function watchedBy(all: Accounts, own: Accounts): Watched {
  return {
    hasOverview: false,
    filter({ topic, id }) {
      if (topic === 'runs' || topic === 'agents') return null;
      if (topic !== 'accounts' || id === null || own.get(id)) return { topic, id };
      // The owner of a removed account is unknown, so its event carries no id.
      return all.hasId(id) ? null : { topic, id: null };
    },
  };
}
