// /api/v1 as the operator's desk uses it: every group of routes with what it needs.
import type Router from '@koa/router';
import type { AccountLimitsService } from '../../core/account-limits.js';
import type { Accounts } from '../../core/accounts.js';
import type { AdminCredentials } from '../../core/admin-credentials.js';
import type { ApiTokens } from '../../core/api-tokens.js';
import type { AuditStore } from '../../core/audit.js';
import type { ConsoleSessions } from '../../core/console-sessions.js';
import type { FailureLimit } from '../../core/failure-limit.js';
import type { Log } from '../../core/log.js';
import type { SecondFactor } from '../../core/second-factor.js';
import type { ReadJsonObject } from '../body.js';
import type { LoginDelay } from '../guards/login-delay.js';
import type { AdminState } from '../state.js';
import { auditHandlers } from './audit.js';
import { auditRoutes } from './contract/audit.js';
import { limitRoutes } from './contract/limits.js';
import { sessionRoutes } from './contract/session.js';
import { limitHandlers } from './limits.js';
import { serveRoutes } from './serve.js';
import { type AboutDaemon, sessionHandlers } from './session.js';

export interface OperatorUses {
  readonly consoleSessions: ConsoleSessions;
  readonly secondFactor: SecondFactor;
  /** Wrong sign-ins to the console, by source. */
  readonly signInFailures: FailureLimit;
  readonly apiTokens: ApiTokens;
  readonly audit: AuditStore;
  readonly limits: AccountLimitsService;
  readonly about: () => AboutDaemon;
}

export function operatorRoutes(
  router: Router<AdminState>,
  uses: OperatorUses & {
    readonly accounts: Accounts;
    readonly credentials: AdminCredentials;
    readonly delay: LoginDelay;
    readonly log: Log;
    readonly now: () => number;
    readonly readJsonObject: ReadJsonObject;
  },
): void {
  const { readJsonObject, accounts } = uses;
  const session = sessionHandlers({
    ...uses,
    failures: uses.signInFailures,
    countAccounts: () => accounts.count(),
  });
  serveRoutes(router, sessionRoutes, session, readJsonObject);
  serveRoutes(router, limitRoutes, limitHandlers(uses), readJsonObject);
  serveRoutes(router, auditRoutes, auditHandlers(uses), readJsonObject);
}
