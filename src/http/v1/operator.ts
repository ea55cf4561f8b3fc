// /api/v1 as the operator's desk uses it: every group of routes with what it needs.
import type Router from '@koa/router';
import type { AccountLimitsService } from '../../core/accounts/account-limits.js';
import type { Accounts } from '../../core/accounts/accounts.js';
import type { LiveActivity } from '../../core/accounts/live-activity.js';
import type { LoginStore } from '../../core/accounts/login-log.js';
import type { AuditStore } from '../../core/audit/audit.js';
import type { AdminCredentials } from '../../core/auth/admin-credentials.js';
import type { ApiTokens } from '../../core/auth/api-tokens.js';
import type { ConsoleSessions } from '../../core/auth/console-sessions.js';
import type { RecoveryCodes } from '../../core/auth/recovery-codes.js';
import type { SecondFactor } from '../../core/auth/second-factor.js';
import type { WhitelistSetting } from '../../core/auth/whitelist-setting.js';
import type { HeartbeatStore } from '../../core/heartbeats/heartbeat-store.js';
import type { HeartbeatSums } from '../../core/heartbeats/heartbeat-sums.js';
import type { Log } from '../../core/log.js';
import type { SessionRegistry } from '../../core/sessions/session.js';
import type { ChangeBell } from '../../core/stats/change-signal.js';
import type { History } from '../../core/stats/history.js';
import type { OverviewNow } from '../../core/stats/overview.js';
import { createBodyReader, type ReadJsonObject } from '../body.js';
import type { Caller } from '../caller.js';
import type { AdminAttempts } from '../guards/attempts.js';
import type { AdminState } from '../state.js';
import { accountHandlers } from './accounts.js';
import { batchHandlers } from './accounts-batch.js';
import { bulkHandlers } from './accounts-bulk.js';
import { activityHandlers } from './activity.js';
import { auditHandlers } from './audit.js';
import { accountRoutes } from './contract/accounts.js';
import { manyAccountRoutes } from './contract/accounts-many.js';
import { activityRoutes } from './contract/activity.js';
import { auditRoutes } from './contract/audit.js';
import { documentRoutes } from './contract/index.js';
import { limitRoutes } from './contract/limits.js';
import { overviewRoutes } from './contract/overview.js';
import { sessionRoutes } from './contract/session.js';
import { settingsRoutes } from './contract/settings.js';
import { transferRoutes } from './contract/transfer.js';
import { documentHandlers } from './document.js';
import { limitHandlers } from './limits.js';
import { overviewHandlers } from './overview.js';
import { serveRoutes } from './serve.js';
import { type AboutDaemon, sessionHandlers } from './session.js';
import { settingsRoutes as whitelistRoutes } from './settings.js';
import { type SettingsUses, settingsHandlers } from './settings-handlers.js';
import { type TransferUses, transferHandlers } from './transfer.js';

export interface OperatorUses extends SettingsUses, TransferUses {
  readonly consoleSessions: ConsoleSessions;
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
  readonly apiTokens: ApiTokens;
  readonly audit: AuditStore;
  readonly limits: AccountLimitsService;
  readonly sessions: SessionRegistry;
  readonly activity: LiveActivity;
  readonly logins: Pick<LoginStore, 'list' | 'count'>;
  readonly heartbeats: Pick<HeartbeatStore, 'list'>;
  readonly heartbeatSums: HeartbeatSums;
  readonly heartbeatIntervalMs: number;
  readonly history: History;
  readonly overview: () => Promise<OverviewNow>;
  readonly bell: ChangeBell;
  readonly maxEventStreams: number;
  /** Largest body of a request about many accounts at once. */
  readonly maxBulkBodyBytes: number;
  readonly about: () => AboutDaemon;
}

export function operatorRoutes(
  router: Router<AdminState>,
  uses: OperatorUses & {
    readonly accounts: Accounts;
    readonly whitelist: WhitelistSetting;
    readonly credentials: AdminCredentials;
    readonly attempts: AdminAttempts;
    readonly log: Log;
    readonly now: () => number;
    readonly readJsonObject: ReadJsonObject;
  },
): void {
  const { accounts, consoleSessions, apiTokens, whitelist } = uses;
  const readMuch = createBodyReader(uses.maxBulkBodyBytes);
  const aboutAccounts = { ...uses, socks: () => uses.about().socks };

  const STILL_GOOD: Readonly<Record<Caller['via'], (key: string) => boolean>> = {
    basic: (key) => key === uses.credentials.fingerprint(),
    console: consoleSessions.isOpen,
    token: apiTokens.isGood,
    cli: () => true,
  };

  serveRoutes(
    router,
    sessionRoutes,
    sessionHandlers({ ...aboutAccounts, countAccounts: () => accounts.count() }),
    uses.readJsonObject,
  );
  serveRoutes(
    router,
    overviewRoutes,
    overviewHandlers({
      ...uses,
      mayStillWatch: ({ via, key, address }) => whitelist.allows(address) && STILL_GOOD[via](key ?? ''),
    }),
    uses.readJsonObject,
  );
  serveRoutes(router, transferRoutes, transferHandlers({ ...uses, ...aboutAccounts }), uses.readJsonObject);
  serveRoutes(
    router,
    manyAccountRoutes,
    { ...batchHandlers(aboutAccounts), ...bulkHandlers(aboutAccounts) },
    readMuch,
  );
  serveRoutes(router, accountRoutes, accountHandlers(aboutAccounts), readMuch);
  serveRoutes(router, limitRoutes, limitHandlers(uses), uses.readJsonObject);
  serveRoutes(router, activityRoutes, activityHandlers(uses), readMuch);
  const onChanged = (): void => {
    uses.bell.ring('settings');
    uses.bell.ring('audit');
  };
  whitelistRoutes(router, { whitelist, readJsonObject: uses.readJsonObject, onChanged });
  serveRoutes(
    router,
    settingsRoutes.filter(isOtherSetting),
    settingsHandlers({ ...aboutAccounts, onChanged }),
    readMuch,
  );
  serveRoutes(router, documentRoutes, documentHandlers(), uses.readJsonObject);
  serveRoutes(router, auditRoutes, auditHandlers(uses), uses.readJsonObject);
}

type Setting = (typeof settingsRoutes)[number];
const WHITELIST_OPERATIONS: readonly string[] = ['getWhitelist', 'setWhitelist'];

/** The whitelist itself has routes of its own kind. */
function isOtherSetting(
  route: Setting,
): route is Exclude<Setting, { operationId: 'getWhitelist' | 'setWhitelist' }> {
  return !WHITELIST_OPERATIONS.includes(route.operationId);
}
