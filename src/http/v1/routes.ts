// Every route of /api/v1, in the order of the OpenAPI document.
import type { Route } from '../api/route.js';
import { routeProblem } from '../api/serve.js';
import type { Caller } from '../caller.js';
import { accountRoutes, accountTagRoutes } from './accounts/accounts.js';
import { accountBatchRoutes } from './accounts/batch.js';
import { accountBulkRoutes } from './accounts/bulk.js';
import { credentialRoutes, subscriptionRoutes } from './accounts/credentials.js';
import { contactRoutes, limitRoutes } from './accounts/limits.js';
import { accountExportRoutes, accountImportRoutes } from './accounts/transfer.js';
import { heartbeatRoutes } from './activity/heartbeats.js';
import { loginRoutes } from './activity/logins.js';
import { noticeRoutes } from './activity/notices.js';
import { liveSessionRoutes } from './activity/sessions.js';
import { traceRoutes } from './activity/trace.js';
import { agentRoutes, conversationRoutes } from './agents/agents.js';
import { runRoutes } from './agents/runs.js';
import { auditRoutes, logRoutes } from './audit.js';
import { documentRoutes } from './document.js';
import { exitRoutes } from './exits.js';
import { nodeRoutes } from './nodes.js';
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
  ...agentRoutes,
  ...runRoutes,
  ...conversationRoutes,
  ...nodeRoutes,
  ...exitRoutes,
  ...operatorRoutes,
  ...noticeRoutes,
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
