// Every route of /api/v1, in the order of the OpenAPI document, and how they are served: with the services that the caller may use.
import type Router from '@koa/router';
import type { Accounts } from '../../core/accounts/accounts.js';
import { accountsOfSeller } from '../../core/accounts/owned-accounts.js';
import type { AuditStore } from '../../core/audit/audit.js';
import { sessionsOfSeller } from '../../core/sessions/live-sessions.js';
import type { Route } from '../api/route.js';
import { routeProblem, serveRoutes } from '../api/serve.js';
import type { AdminState, Caller } from '../caller.js';
import { createBodyReader, type ReadJsonObject } from '../request.js';
import type { Services, Watched } from '../services.js';
import { accountRoutes, accountTagRoutes } from './accounts/accounts.js';
import { accountBatchRoutes } from './accounts/batch.js';
import { accountBulkRoutes } from './accounts/bulk.js';
import { contactRoutes } from './accounts/contacts.js';
import { credentialRoutes, subscriptionRoutes } from './accounts/credentials.js';
import { limitRoutes } from './accounts/limits.js';
import { accountExportRoutes, accountImportRoutes } from './accounts/transfer.js';
import { eventReceiverRoutes } from './activity/events.js';
import { heartbeatRoutes } from './activity/heartbeats.js';
import { loginRoutes } from './activity/logins.js';
import { noticeRoutes } from './activity/notices.js';
import { liveSessionRoutes } from './activity/sessions.js';
import { traceRoutes } from './activity/trace.js';
import { trafficRoutes } from './activity/traffic.js';
import { agentRoutes, conversationRoutes } from './agents/agents.js';
import { runRoutes } from './agents/runs.js';
import { auditRoutes, logRoutes } from './audit.js';
import { documentRoutes } from './document.js';
import { exitRoutes } from './exits.js';
import { nodeRoutes } from './nodes.js';
import { carriedOutOnce } from './once.js';
import { eventRoutes, overviewRoutes } from './overview.js';
import { operatorRoutes } from './people/operators.js';
import { adminPasswordRoutes, secondFactorRoutes } from './people/second-factor.js';
import { sessionRoutes } from './people/session.js';
import { tokenRoutes } from './people/tokens.js';
import { backupRoutes, effectiveRoutes, retentionRoutes } from './settings/data.js';
import { gameRuleRoutes } from './settings/games.js';
import { noticeSettingRoutes } from './settings/notices.js';
import { pacRoutes, planRoutes, publicAddressRoutes } from './settings/players.js';
import { whitelistRoutes } from './settings/whitelist.js';

/**
 * Fixed paths (`accounts/export`) come before paths with a parameter (`accounts/{id}`), so that routes can be registered in this
 * order.
 */
export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...secondFactorRoutes,
  ...overviewRoutes,
  ...eventRoutes,
  ...accountExportRoutes,
  ...accountImportRoutes,
  ...accountBatchRoutes,
  ...accountBulkRoutes,
  ...accountTagRoutes,
  ...accountRoutes,
  ...credentialRoutes,
  ...limitRoutes,
  ...subscriptionRoutes,
  ...contactRoutes,
  ...liveSessionRoutes,
  ...loginRoutes,
  ...heartbeatRoutes,
  ...traceRoutes,
  ...trafficRoutes,
  ...agentRoutes,
  ...runRoutes,
  ...conversationRoutes,
  ...nodeRoutes,
  ...exitRoutes,
  ...operatorRoutes,
  ...noticeRoutes,
  ...eventReceiverRoutes,
  ...whitelistRoutes,
  ...gameRuleRoutes,
  ...retentionRoutes,
  ...publicAddressRoutes,
  ...planRoutes,
  ...pacRoutes,
  ...noticeSettingRoutes,
  ...adminPasswordRoutes,
  ...effectiveRoutes,
  ...backupRoutes,
  ...auditRoutes,
  ...logRoutes,
  ...tokenRoutes,
  ...documentRoutes,
];

/** Returns the `operationId`s of the routes that the caller may use. */
export const operationsOf = (caller: Caller): readonly string[] =>
  routes.filter((route) => routeProblem(caller, route) === null).map(({ operationId }) => operationId);

/** @param maxBulkBodyBytes size of the largest body of a request about many accounts */
export function serveApi(
  router: Router<AdminState>,
  services: Services,
  { readJsonObject, maxBulkBodyBytes }: { readJsonObject: ReadJsonObject; maxBulkBodyBytes: number },
): void {
  const once = carriedOutOnce(services.requestKeys, services.now);
  serveRoutes(router, routes.map(once), (caller) => restrictedTo(caller, services), {
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
  const { logins, heartbeats, heartbeatSums, trafficReport, events } = services;
  return {
    ...services,
    audit,
    accounts,
    liveSessions: sessionsOfSeller(services.liveSessions, (id) => accounts.get(id) !== null),
    logins: {
      list: (filter, before, limit) => logins.list({ ...filter, owner }, before, limit),
      count: (filter) => logins.count({ ...filter, owner }),
    },
    trafficReport: {
      byAccount: (days) => trafficReport.byAccount(days, owner),
      byPart: (kind, days, knownFrom) => trafficReport.byPart(kind, days, knownFrom, owner),
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
