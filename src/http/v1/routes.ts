// Every route of /api/v1, in the order of the OpenAPI document.
import type { AuditStore } from '../../core/audit/audit.js';
import type { Log } from '../../core/log.js';
import { accountRoutes } from './accounts/accounts.js';
import { accountBatchRoutes } from './accounts/batch.js';
import { accountBulkRoutes } from './accounts/bulk.js';
import { credentialRoutes } from './accounts/credentials.js';
import { accountExportRoutes, type ExportUses } from './accounts/export.js';
import { accountImportRoutes, type ImportUses } from './accounts/import.js';
import { limitRoutes } from './accounts/limits.js';
import { type PlayerLinkUses, playerLinkRoutes } from './accounts/player-link.js';
import type { AccountUses } from './accounts/shared.js';
import { accountTagRoutes } from './accounts/tags.js';
import { type HeartbeatUses, heartbeatRoutes } from './activity/heartbeats.js';
import { type LoginUses, loginRoutes } from './activity/logins.js';
import { type NoticeUses, noticeRoutes } from './activity/notices.js';
import { type LiveSessionUses, liveSessionRoutes } from './activity/sessions.js';
import { agentRoutes } from './agents/agents.js';
import { conversationRoutes } from './agents/conversations.js';
import { runRoutes } from './agents/runs.js';
import type { AgentRouteUses } from './agents/uses.js';
import { auditRoutes } from './audit.js';
import { type ApiDocument, documentRoutes } from './document.js';
import { type EventStreams, eventRoutes } from './events.js';
import { type LogUses, logRoutes } from './log.js';
import { type NodeUses, nodeRoutes } from './nodes.js';
import { type OperatorUses, operatorRoutes } from './operators.js';
import { type OverviewUses, overviewRoutes } from './overview.js';
import type { Route } from './route.js';
import { type SecondFactorUses, secondFactorRoutes } from './second-factor.js';
import { type SessionUses, sessionRoutes } from './session.js';
import { type AdminPasswordUses, adminPasswordRoutes } from './settings/admin-password.js';
import { type BackupUses, backupRoutes } from './settings/backup.js';
import { type Effective, effectiveRoutes } from './settings/effective.js';
import { type GameRuleUses, gameRuleRoutes } from './settings/games.js';
import { type NoticeSettingUses, noticeSettingRoutes } from './settings/notices.js';
import { type PacUses, pacRoutes } from './settings/pac.js';
import { type PlanUses, planRoutes } from './settings/plans.js';
import { type PublicAddressUses, publicAddressRoutes } from './settings/public-address.js';
import { type RetentionUses, retentionRoutes } from './settings/retention.js';
import { type WhitelistUses, whitelistRoutes } from './settings/whitelist.js';
import { type TokenUses, tokenRoutes } from './tokens.js';

/** The dependencies of all handlers. Each handler names the part that it uses. */
export interface RouteUses
  extends AccountUses,
    ExportUses,
    ImportUses,
    HeartbeatUses,
    LoginUses,
    LiveSessionUses,
    AgentRouteUses,
    OverviewUses,
    NodeUses,
    OperatorUses,
    NoticeUses,
    NoticeSettingUses,
    SecondFactorUses,
    SessionUses,
    AdminPasswordUses,
    GameRuleUses,
    PublicAddressUses,
    PlanUses,
    PacUses,
    PlayerLinkUses,
    RetentionUses,
    WhitelistUses,
    BackupUses,
    LogUses,
    TokenUses {
  readonly accounts: AccountUses['accounts'];
  readonly usage: AccountUses['usage'];
  readonly plans: PlanUses['plans'];
  readonly credentials: AdminPasswordUses['credentials'];
  readonly consoleSessions: SessionUses['consoleSessions'];
  readonly principals: SessionUses['principals'];
  readonly operators: OperatorUses['operators'];
  readonly apiTokens: TokenUses['apiTokens'];
  readonly audit: AuditStore;
  readonly node: NodeUses['node'];
  readonly document: () => ApiDocument;
  readonly events: EventStreams;
  readonly effective: () => Promise<Effective>;
  readonly log: Log;
}

/**
 * Fixed paths (`accounts/export`) come before paths with a parameter (`accounts/{id}`), so that routes can be registered in this
 * order.
 */
export const routes: readonly Route<RouteUses>[] = [
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
