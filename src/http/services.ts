// What the routes of the admin API work with. parts/admin/services.ts makes it once; each handler takes from it what it uses.
import type { Readable } from 'node:stream';
import type { Config } from '../config.js';
import type { LoginStore } from '../core/accounts/access/login-log.js';
import type { Schedules } from '../core/accounts/access/schedule.js';
import type { Accounts } from '../core/accounts/accounts.js';
import type { PlansSetting } from '../core/accounts/plans/plans.js';
import type { PacSetting } from '../core/accounts/player/pac.js';
import type { PublicAddress, PublicAddressSetting } from '../core/accounts/player/proxy-link.js';
import type { PlayerLinks } from '../core/accounts/player/subscription.js';
import type { AccountUsage } from '../core/accounts/usage/account-usage.js';
import type { Calendar } from '../core/accounts/usage/calendar.js';
import type { LiveActivity } from '../core/accounts/usage/live-activity.js';
import type { TrafficReportStore } from '../core/accounts/usage/traffic-report.js';
import type { Geo } from '../core/addresses/geo.js';
import type { AgentSessionStore, DeliveryStore, RunStore } from '../core/agents/run-store.js';
import type { AgentControl, DeliveryOutcome } from '../core/agents/runs.js';
import type { AuditStore } from '../core/audit/audit.js';
import type { AdminCredentials } from '../core/auth/admin-credentials.js';
import type { ApiTokens } from '../core/auth/api-tokens.js';
import type { KnownSources } from '../core/auth/attempt-limit.js';
import type { ConsoleSessions } from '../core/auth/console-sessions.js';
import type { Operators } from '../core/auth/operators.js';
import type { Principals } from '../core/auth/principals.js';
import type { WhitelistSetting } from '../core/auth/whitelist.js';
import type { Exit, ExitProblem } from '../core/exits/exit.js';
import type { ExitFigures, ExitTrial } from '../core/exits/exit-figures.js';
import type { ExitsSetting } from '../core/exits/exits-setting.js';
import type { CompilePattern, GameRulesSetting } from '../core/heartbeats/game-rules.js';
import type { HeartbeatStore } from '../core/heartbeats/heartbeat.js';
import type { HeartbeatSums } from '../core/heartbeats/heartbeat-sums.js';
import type { Log } from '../core/log.js';
import type { NodeStore, PlayerServer } from '../core/nodes/nodes.js';
import type { Confirmations } from '../core/notices/confirmations.js';
import type { NoticeChannel, NoticeStore } from '../core/notices/notice.js';
import type { NoticeSettings, NoticesSetting } from '../core/notices/notice-settings.js';
import type { EventReceiver, EventReceivers } from '../core/notices/receivers.js';
import type { LiveSessions } from '../core/sessions/live-sessions.js';
import type { SessionRegistry } from '../core/sessions/session-registry.js';
import type { RetentionSetting } from '../core/settings/retention.js';
import type { Reloadable } from '../core/settings/setting.js';
import type { Changed, ChangeSignal } from '../core/stats/change-signal.js';
import type { History } from '../core/stats/history.js';
import type { OverviewNow } from '../core/stats/overview.js';
import type { RecentLog } from '../core/stats/recent-log.js';
import type { Clock } from '../core/time/clock.js';
import type { SessionRecordStore } from '../core/trace/session-record.js';
import type { Caller, LostAccess } from './caller.js';
import type { AdminAttempts } from './guards/attempts.js';

export interface Services {
  readonly accounts: Accounts;
  readonly usage: AccountUsage;
  readonly sessions: SessionRegistry;
  /** Those of all daemons. */
  readonly liveSessions: LiveSessions;
  readonly activity: LiveActivity;
  readonly schedules: Schedules;
  /** Of client addresses. */
  readonly geo: Geo;
  readonly calendar: Calendar;
  /** Of the schedules of accounts. */
  readonly timeZone: string;
  /** Of one account. */
  readonly maxAuthorizedAddresses: number;
  /** Where an upload is kept until it is imported; null: files are read where they are. */
  readonly uploadFolder: string | null;
  /** The callers with an import under way: the ids of operators; null: the administrator. */
  readonly importing: Set<string | null>;
  /** Largest file of accounts, in bytes. */
  readonly maxImportBytes: number;
  readonly confirmations: Confirmations;

  readonly playerLinks: PlayerLinks;
  readonly playerPage: Config['admin']['playerPage'];
  /** How players reach the nodes that serve, this one (at `own`) first, and the exits that clients may choose. */
  readonly reach: {
    readonly servers: (own: Pick<PlayerServer, 'host' | 'port'>) => Promise<readonly PlayerServer[]>;
    readonly exitSuffix: readonly string[];
  };
  /** Returns the id of the account whose link has this hash; null: none. Reads the database. */
  readonly findByLink: (hash: string) => Promise<string | null>;

  readonly logins: Pick<LoginStore, 'list' | 'count'>;
  readonly sessionRecords: Pick<SessionRecordStore, 'search' | 'unmatched' | 'ofEntries' | 'oldest'>;
  /** Writes the records of this daemon that wait. */
  readonly flushRecords: () => Promise<void>;
  readonly trafficReport: Pick<TrafficReportStore, 'byAccount' | 'byPart'>;
  readonly trafficLimits: Config['traffic'];
  readonly heartbeats: Pick<HeartbeatStore, 'list'>;
  readonly heartbeatSums: Pick<HeartbeatSums, 'series' | 'largest'>;
  readonly heartbeatIntervalMs: number;
  readonly overview: () => Promise<OverviewNow>;
  readonly history: History;

  readonly agents: {
    readonly control: AgentControl;
    readonly runs: Pick<RunStore, 'get' | 'list'>;
    readonly deliveries: Pick<DeliveryStore, 'ofRun'>;
    readonly sessions: Pick<AgentSessionStore, 'list' | 'get' | 'messages' | 'remove'>;
  };
  readonly nodes: NodeStore;
  /** This daemon's own node. */
  readonly node: Reloadable & { readonly nodeName: string };
  readonly notices: Pick<NoticeStore, 'discard' | 'list' | 'retry' | 'waiting'>;
  /** Call it when a notice became due. */
  readonly wakeNotices: () => void;
  readonly eventReceivers: EventReceivers;
  /** Sends a test event now; null: the seller has made as many attempts as it may. */
  readonly testReceiver: (receiver: EventReceiver) => Promise<DeliveryOutcome | null>;
  readonly testNotice: (
    channel: NoticeChannel,
    settings: NoticeSettings,
    signal: AbortSignal,
  ) => Promise<DeliveryOutcome | null>;
  readonly previewNotices: (settings: NoticeSettings) => Promise<object>;

  /** `maxKeys` of one caller; `maxAnswerBytes`: the largest answer to keep, encrypted. */
  readonly requestKeys: {
    readonly store: Pick<RunStore, 'findAnswer' | 'countKeys' | 'storeAnswer'>;
    readonly maxKeys: number;
    readonly maxAnswerBytes: number;
  };
  readonly credentials: AdminCredentials;
  readonly principals: Principals;
  readonly operators: Operators;
  readonly consoleSessions: ConsoleSessions;
  readonly apiTokens: ApiTokens;
  readonly knownSources: KnownSources;
  readonly lostAccess: LostAccess;
  /** Counts wrong passwords and tokens by source. */
  readonly attempts: AdminAttempts;
  /** Counts wrong one-time codes by user name. */
  readonly codeAttempts: AdminAttempts;
  /** Counts wrong player links apart from logins: wrong ones of a network lock out nobody else there. */
  readonly playerAttempts: AdminAttempts;

  readonly whitelist: WhitelistSetting;
  readonly plans: PlansSetting;
  readonly pac: PacSetting;
  readonly exits: ExitsSetting;
  /** Why this machine cannot use an exit with these fields; null: it can. A command cannot know. */
  readonly machineProblem: (exit: Pick<Exit, 'addresses' | 'interface' | 'mark'>) => ExitProblem | null;
  /** Connects out through an exit, to a server that answers with the address that it sees. */
  readonly testExit: (name: string) => Promise<ExitTrial>;
  readonly exitFigures: ExitFigures;
  readonly gameRules: GameRulesSetting;
  readonly compilePattern: CompilePattern;
  readonly retention: RetentionSetting;
  readonly noticesSetting: NoticesSetting;
  readonly publicAddress: PublicAddressSetting;
  readonly configuredAddress: PublicAddress & { readonly hostFrom: Source; readonly portFrom: Source };
  /** `host:port` of every SOCKS listener. */
  readonly socks: () => readonly string[];
  readonly effective: () => Promise<object>;
  /** The file, or why there is none. */
  readonly backup: () => Promise<Readable | 'busy' | 'not-a-file'>;
  /** What every caller with credentials may know of the daemon. */
  readonly about: Readonly<Record<'version' | 'startedAt', string>> & {
    readonly webhooksEnabled: boolean;
    readonly egressClasses: readonly string[];
  };

  readonly audit: AuditStore;
  readonly changes: ChangeSignal;
  readonly onSettingChanged: () => void;
  readonly events: EventStreams;
  /** Returns the `operationId`s of the routes that the caller may use. */
  readonly operationsOf: (caller: Caller) => readonly string[];
  /** The OpenAPI document, made at the first call and kept. */
  readonly document: () => { readonly json: string; readonly page: string };
  readonly log: Log;
  readonly recentLog: Pick<RecentLog, 'read'>;
  readonly now: Clock;
}

export type LinkServices = Pick<Services, 'publicAddress' | 'socks'>;

export type Source = 'default' | 'file' | 'environment' | 'flag';

export interface EventStreams {
  /** Opens a stream for the caller; null: the maximum number of streams of the caller, or of all operators, is open. */
  open(caller: Caller, watched?: Watched): Readable | null;
  /** Ends the open streams, so that a stop does not wait for them. Clients connect again later. */
  close(): void;
}

/** The events that a stream carries. */
export interface Watched {
  readonly hasOverview: boolean;
  /** Returns the event to send for a change; null: none. */
  filter(changed: Changed): Changed | null;
}
