// Every route of /api/v1, in the order of the OpenAPI document.
import type { AuditStore } from '../../core/audit/audit.js';
import type { Log } from '../../core/log.js';
import type { Route } from '../api/route.js';
import { accountRoutes } from './accounts/accounts.js';
import { accountBatchRoutes } from './accounts/batch.js';
import { accountBulkRoutes } from './accounts/bulk.js';
import { type ContactDeps, contactRoutes } from './accounts/contacts.js';
import { credentialRoutes } from './accounts/credentials.js';
import { accountExportRoutes, type ExportDeps } from './accounts/export.js';
import { accountImportRoutes, type ImportDeps } from './accounts/import.js';
import { limitRoutes } from './accounts/limits.js';
import { type PlayerLinkDeps, playerLinkRoutes } from './accounts/player-link.js';
import type { AccountDeps } from './accounts/shared.js';
import { accountTagRoutes } from './accounts/tags.js';
import { type HeartbeatDeps, heartbeatRoutes } from './activity/heartbeats.js';
import { type LoginDeps, loginRoutes } from './activity/logins.js';
import { type NoticeDeps, noticeRoutes } from './activity/notices.js';
import { type LiveSessionDeps, liveSessionRoutes } from './activity/sessions.js';
import { agentRoutes } from './agents/agents.js';
import { conversationRoutes } from './agents/conversations.js';
import { runRoutes } from './agents/runs.js';
import type { AgentRouteDeps } from './agents/shared.js';
import { auditRoutes } from './audit.js';
import { type ApiDocument, documentRoutes } from './document.js';
import { type EventStreams, eventRoutes } from './events.js';
import { type LogDeps, logRoutes } from './log.js';
import { type NodeDeps, nodeRoutes } from './nodes.js';
import { type OperatorDeps, operatorRoutes } from './operators.js';
import { type OverviewDeps, overviewRoutes } from './overview.js';
import { type SecondFactorDeps, secondFactorRoutes } from './second-factor.js';
import { type SessionDeps, sessionRoutes } from './session.js';
import { type AdminPasswordDeps, adminPasswordRoutes } from './settings/admin-password.js';
import { type BackupDeps, backupRoutes } from './settings/backup.js';
import { type Effective, effectiveRoutes } from './settings/effective.js';
import { type GameRuleDeps, gameRuleRoutes } from './settings/games.js';
import { type NoticeSettingDeps, noticeSettingRoutes } from './settings/notices.js';
import { type PacDeps, pacRoutes } from './settings/pac.js';
import { type PlanDeps, planRoutes } from './settings/plans.js';
import { type PublicAddressDeps, publicAddressRoutes } from './settings/public-address.js';
import { type RetentionDeps, retentionRoutes } from './settings/retention.js';
import { type WhitelistDeps, whitelistRoutes } from './settings/whitelist.js';
import { type TokenDeps, tokenRoutes } from './tokens.js';

/** The dependencies of all handlers. Each handler names the part that it uses. */
export interface RouteDeps
  extends AccountDeps,
    ExportDeps,
    ImportDeps,
    HeartbeatDeps,
    LoginDeps,
    LiveSessionDeps,
    AgentRouteDeps,
    OverviewDeps,
    NodeDeps,
    OperatorDeps,
    NoticeDeps,
    NoticeSettingDeps,
    SecondFactorDeps,
    SessionDeps,
    AdminPasswordDeps,
    GameRuleDeps,
    PublicAddressDeps,
    PlanDeps,
    PacDeps,
    PlayerLinkDeps,
    ContactDeps,
    RetentionDeps,
    WhitelistDeps,
    BackupDeps,
    LogDeps,
    TokenDeps {
  readonly accounts: AccountDeps['accounts'];
  readonly usage: AccountDeps['usage'];
  readonly plans: PlanDeps['plans'];
  readonly credentials: AdminPasswordDeps['credentials'];
  readonly consoleSessions: SessionDeps['consoleSessions'];
  readonly principals: SessionDeps['principals'];
  readonly operators: OperatorDeps['operators'];
  readonly apiTokens: TokenDeps['apiTokens'];
  readonly audit: AuditStore;
  readonly node: NodeDeps['node'];
  readonly document: () => ApiDocument;
  readonly events: Pick<EventStreams, 'open'>;
  readonly effective: () => Promise<Effective>;
  readonly log: Log;
}

/**
 * Fixed paths (`accounts/export`) come before paths with a parameter (`accounts/{id}`), so that routes can be registered in this
 * order.
 */
export const routes: readonly Route<RouteDeps>[] = [
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
  ...playerLinkRoutes,
  ...contactRoutes,
  ...liveSessionRoutes,
  ...loginRoutes,
  ...heartbeatRoutes,
  ...agentRoutes,
  ...runRoutes,
  ...conversationRoutes,
  ...nodeRoutes,
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
