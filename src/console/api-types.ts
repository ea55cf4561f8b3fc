// Made from the OpenAPI document by test/helpers/console-api-types.ts; a test holds the two equal. Do not edit.
// biome-ignore-all format: made by a program
// biome-ignore-all lint: made by a program
export type AccessChange = {
  readonly allowedClients?: readonly (string)[] | undefined;
  readonly schedule?: string | null | undefined;
};
export type Account = {
  readonly id: Guid;
  readonly username: string;
  readonly isEnabled: boolean;
  readonly remarks: string | null;
  readonly tags: readonly (string)[];
  readonly createdAt: Time;
  readonly lastLoginAt: Time | null;
  readonly expiresAt: Time | null;
  readonly isExpired: boolean;
  readonly daysFromFirstLogin: number | null;
  readonly plan: string | null;
  readonly dataCount: Count;
  readonly latestGameId: string | null;
  readonly todayBytesUp: Bytes;
  readonly todayBytesDown: Bytes;
  readonly authorizedAddresses: readonly (string)[];
  readonly allowedClients: readonly (string)[];
  readonly schedule: string | null;
  readonly isOutsideSchedule: boolean;
  readonly scheduleChangesAt: Time | null;
  readonly owner: { readonly id: Guid; readonly name: string } | null;
  readonly contacts: Contacts;
  readonly limits: AccountLimits;
  readonly usage: AccountUsage;
  readonly etag: string;
};
export type AccountChange = {
  readonly username?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly remarks?: string | null | undefined;
  readonly tags?: readonly (Tag)[] | undefined;
  readonly expiresAt?: TimeIn | null | undefined;
  readonly limits?: AccountLimitsChange | undefined;
  readonly authorizedAddresses?: readonly (string)[] | undefined;
  readonly allowedClients?: readonly (string)[] | undefined;
  readonly schedule?: string | null | undefined;
  readonly owner?: Guid | null | undefined;
  readonly contacts?: ContactsChange | undefined;
};
export type AccountFilterBody = {
  readonly search?: string | undefined;
  readonly online?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly expired?: boolean | undefined;
  readonly expiringWithinDays?: number | undefined;
  readonly expiresFrom?: TimeIn | undefined;
  readonly expiresBefore?: TimeIn | undefined;
  readonly neverUsed?: boolean | undefined;
  readonly overQuota?: boolean | undefined;
  readonly tag?: Tag | undefined;
  readonly game?: string | undefined;
  readonly plan?: string | undefined;
  readonly owner?: Guid | 'none' | undefined;
};
export type AccountLimits = PlanLimits & { readonly egressClass: string | null };
export type AccountLimitsChange = {
  readonly maxSessions?: number | null | undefined;
  readonly maxClientAddresses?: number | null | undefined;
  readonly bytesPerSecondUp?: number | null | undefined;
  readonly bytesPerSecondDown?: number | null | undefined;
  readonly quotaBytes?: number | null | undefined;
  readonly quotaPeriod?: 'day' | 'week' | 'month' | 'never' | undefined;
  readonly egressClass?: string | null | undefined;
};
export type AccountPage = {
  readonly items: readonly (Account)[];
  readonly matched: Count;
  readonly total: Count;
  readonly nextCursor: string | null;
};
export type AccountSort = 'username' | 'createdAt' | 'lastLoginAt' | 'expiresAt' | 'dataCount' | 'latestGameId' | 'sessions' | 'todayBytes' | 'periodBytes' | '-username' | '-createdAt' | '-lastLoginAt' | '-expiresAt' | '-dataCount' | '-latestGameId' | '-sessions' | '-todayBytes' | '-periodBytes';
export type AccountUsage = {
  readonly sessions: Count;
  readonly clientAddresses: Count;
  readonly periodBytes: Bytes;
  readonly periodStartedAt: Time | null;
  readonly periodEndsAt: Time | null;
  readonly totalBytesUp: Bytes;
  readonly totalBytesDown: Bytes;
};
export type AdminPasswordChange = { readonly current: string; readonly next: string; readonly revokeTokens?: boolean | undefined };
export type Agent = {
  readonly name: string;
  readonly type: string;
  readonly state: 'idle' | 'active';
  readonly lastActiveAt: Time | null;
  readonly queued: Count;
  readonly running: Count;
  readonly sessionKey: string | null;
  readonly webhook: boolean;
  readonly channel: string;
};
export type AgentMessage = { readonly message: string; readonly sessionKey?: string | undefined };
export type AgentSession = {
  readonly key: string;
  readonly agent: string;
  readonly createdAt: Time;
  readonly lastUsedAt: Time;
  readonly messages: Count;
  readonly bytes: Bytes;
};
export type AgentSessionDetail = AgentSession & {
  readonly history: readonly ({
    readonly role: 'user' | 'assistant';
    readonly content: string;
    readonly at: Time;
    readonly runId: Guid;
  })[];
};
export type AgentSessionPage = { readonly items: readonly (AgentSession)[]; readonly nextCursor: string | null };
export type Agents = { readonly items: readonly (Agent)[] };
export type AuditEntry = {
  readonly id: Guid;
  readonly at: Time;
  readonly actor: string;
  readonly via: 'console' | 'api' | 'token' | 'cli' | 'daemon' | 'player';
  readonly address: string | null;
  readonly action: string;
  readonly object: {
    readonly type: 'account' | 'session' | 'settings' | 'token' | 'run' | 'agent' | 'admin' | 'operator' | 'import' | 'node';
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly import: { readonly id: Guid; readonly action: string; readonly name: string | null } | null;
};
export type AuditPage = {
  readonly items: readonly (AuditEntry)[];
  readonly matched: Count;
  readonly total: Count;
  readonly nextCursor: string | null;
};
export type Budget = { readonly accounts: number | null; readonly days: number | null; readonly bytes: number | null };
export type BudgetChange = {
  readonly accounts?: number | null | undefined;
  readonly days?: number | null | undefined;
  readonly bytes?: number | null | undefined;
};
export type BudgetPreview = {
  readonly parts: readonly ({
    readonly what: 'accounts' | 'days' | 'bytes';
    readonly left: number | null;
    readonly needed: number | null;
    readonly isShort: boolean;
  })[];
  readonly isShort: boolean;
};
export type BudgetUsed = { readonly accounts: Count; readonly days: number; readonly bytes: Bytes };
export type BulkRequest = {
  readonly ids?: readonly (Guid)[] | undefined;
  readonly filter?: AccountFilterBody | undefined;
  readonly action: { readonly type: 'enable' } | { readonly type: 'disable' } | { readonly type: 'delete' } | { readonly type: 'reset-password' } | {
    readonly type: 'tag';
    readonly add?: readonly (Tag)[] | undefined;
    readonly remove?: readonly (Tag)[] | undefined;
  } | { readonly type: 'plan'; readonly plan: string | null; readonly use: 'renew' | 'upgrade' } | { readonly type: 'hand-over'; readonly owner: Guid | null } | { readonly type: 'set-limits'; readonly limits: AccountLimitsChange } | { readonly type: 'set-contacts'; readonly contacts: ContactsChange } | { readonly type: 'set-access'; readonly access: AccessChange } | { readonly type: 'set-expiry'; readonly expiresAt: TimeIn | null } | { readonly type: 'extend'; readonly days: number; readonly from: 'expiry' | 'now' | 'later' };
  readonly dryRun: boolean;
  readonly expectedCount?: Count | undefined;
};
export type BulkResult = {
  readonly dryRun: boolean;
  readonly count: Count;
  readonly changes: readonly ({
    readonly id: Guid;
    readonly username: string;
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>> | null;
  })[];
  readonly skippedCount: Count;
  readonly skipped: readonly (SkippedAccount)[];
  readonly sessionsEnded: Count;
  readonly heartbeatsRemoved: Count;
  readonly stayingExpired: Count;
  readonly shortened: Count;
  readonly credentials: readonly (Credentials)[];
  readonly budget: BudgetPreview | null;
};
export type Bytes = number;
export type BytesPerSecond = number;
export type ChangedEvent = {
  readonly topic: 'accounts' | 'sessions' | 'settings' | 'runs' | 'agents' | 'tokens' | 'audit' | 'notices';
  readonly id: string | null;
};
export type Confirmation = { readonly password?: string | undefined; readonly code?: string | undefined };
export type Confirmed = { readonly confirmedUntil: Time | null };
export type ContactStates = {
  readonly email: 'trusted' | 'unconfirmed' | null;
  readonly telegram: 'trusted' | 'unconfirmed' | null;
};
export type Contacts = {
  readonly email: string | null;
  readonly telegram: string | null;
  readonly language: 'zh' | 'en' | null;
};
export type ContactsChange = {
  readonly email?: string | null | undefined;
  readonly telegram?: string | null | undefined;
  readonly language?: 'zh' | 'en' | null | undefined;
};
export type Count = number;
export type CreatedAccount = { readonly account: Account; readonly credentials: CredentialsInFormats };
export type CreatedToken = { readonly token: Token; readonly secret: string };
export type Credentials = {
  readonly id: Guid;
  readonly username: string;
  readonly password: string;
  readonly link: string;
  readonly plain: string | null;
};
export type CredentialsInFormats = Credentials & {
  readonly formats: readonly ({
    readonly format: 'link' | 'plain' | 'clash' | 'sing-box' | 'proxifier' | 'shadowrocket';
    readonly text: string | null;
    readonly fileName: string | null;
  })[];
};
export type Day = string;
export type DeletedAccount = { readonly heartbeatsRemoved: Count; readonly sessionsEnded: Count };
export type EffectiveConfig = {
  readonly program: {
    readonly version: string;
    readonly installedVersion: string;
    readonly build: { readonly commit: string; readonly date: Time } | null;
    readonly isOld: boolean;
  };
  readonly configFile: string | null;
  readonly entries: readonly ({
    readonly path: string;
    readonly value: string;
    readonly source: 'default' | 'file' | 'environment' | 'flag' | 'console';
    readonly isSecret: boolean;
  })[];
  readonly database: { readonly client: string; readonly bytes: Bytes | null; readonly heartbeats: Count };
  readonly startedAt: Time;
  readonly needsRestart: readonly (string)[];
  readonly problem: string | null;
};
export type EndSessions = { readonly ids?: readonly (Guid)[] | undefined; readonly accountId?: Guid | undefined };
export type EndedSessions = { readonly ended: Count };
export type FieldError = {
  readonly path: string;
  readonly message: string;
  readonly code: 'missing' | 'unknown' | 'unknown-near' | 'none-allowed' | 'type' | 'too-short' | 'too-long' | 'too-small' | 'too-large' | 'too-few' | 'too-many' | 'option' | 'format' | 'time' | 'time-zone' | 'past-time' | 'username' | 'password' | 'short-password' | 'admin-username' | 'not-storable' | 'blank' | 'tags' | 'address' | 'address-too-wide' | 'too-many-addresses' | 'address-taken' | 'budget-accounts' | 'budget-days' | 'budget-bytes' | 'budget-unbounded' | 'seller' | 'schedule' | 'egress-class' | 'plan' | 'plan-name' | 'plan-twice' | 'pattern' | 'one-of' | 'pac-match' | 'url' | 'signing-secret' | 'mail-address' | 'chat-id' | 'secret-again' | 'placeholder' | 'host' | 'server' | 'destination' | 'pattern-empty' | 'pattern-too-large' | 'pattern-backreference' | 'pattern-lookaround' | 'pattern-atomic' | 'pattern-bracket' | 'pattern-parenthesis' | 'pattern-extra-parenthesis' | 'pattern-class-range' | 'pattern-escape' | 'pattern-group-name' | 'pattern-group-name-twice' | 'pattern-perl' | 'pattern-repeat-twice' | 'pattern-repeat-count' | 'pattern-repeat-nothing' | 'pattern-depth' | 'pattern-backslash' | 'pattern-syntax' | 'rule-id-and-pattern' | 'rule-without-id' | 'game-id' | 'max-bytes' | 'match-empty' | 'match-host' | 'match-port' | 'present-password' | 'account-password' | 'one-time-code' | 'cursor';
  readonly values: Readonly<Record<string, unknown>>;
};
export type FileEncoding = 'utf-8' | 'gb18030' | 'utf-16le' | 'utf-16be';
export type FileFormat = 'csv' | 'json' | 'ccproxy';
export type GameRule = {
  readonly id?: string | undefined;
  readonly gameId?: string | undefined;
  readonly match?: {
    readonly hosts?: readonly (string)[] | undefined;
    readonly ports?: readonly (number | string)[] | undefined;
    readonly protocol?: 'tcp' | 'udp' | undefined;
  } | undefined;
  readonly maxBytes?: number | undefined;
};
export type GameRuleTest = {
  readonly rules: readonly (GameRule)[];
  readonly destination: string;
  readonly protocol?: 'tcp' | 'udp' | undefined;
  readonly bytes?: string | undefined;
};
export type GameRuleTestResult = {
  readonly rule: number | null;
  readonly gameId: string | null;
  readonly steps: readonly ({
    readonly rule: number;
    readonly outcome: 'matched' | 'other-host' | 'other-port' | 'other-protocol' | 'pattern-not-found';
  })[];
};
export type GameRules = { readonly rules: readonly (GameRule)[]; readonly source: 'file' | 'console' };
export type GameRulesChange = { readonly rules: readonly (GameRule)[] };
export type Guid = string;
export type HeartbeatEntry = {
  readonly at: Time;
  readonly accountId: Guid;
  readonly username: string;
  readonly sessionId: Guid;
  readonly client: string;
  readonly destination: string;
  readonly protocol: 'tcp' | 'udp';
  readonly bytesUp: Bytes;
  readonly bytesDown: Bytes;
  readonly kind: 'open' | 'beat' | 'game' | 'close';
  readonly gameId: string | null;
};
export type HeartbeatPage = { readonly items: readonly (HeartbeatEntry)[]; readonly nextCursor: string | null };
export type HeartbeatSeries = {
  readonly range: Range;
  readonly stepSeconds: number;
  readonly at: readonly (Time)[];
  readonly series: readonly ({
    readonly key: string | null;
    readonly label: string | null;
    readonly isOthers: boolean;
    readonly total: Count;
    readonly counts: readonly (number | null)[];
  })[];
};
export type HeartbeatSum = {
  readonly key: string | null;
  readonly label: string | null;
  readonly heartbeats: Count;
  readonly accounts: Count;
  readonly bytesUp: Bytes;
  readonly bytesDown: Bytes;
  readonly lastAt: Time;
};
export type HeartbeatSums = { readonly from: Time; readonly to: Time; readonly items: readonly (HeartbeatSum)[] };
export type ImportReport = {
  readonly dryRun: boolean;
  readonly format: FileFormat;
  readonly encoding: FileEncoding | null;
  readonly zone: string;
  readonly read: Count;
  readonly added: Count;
  readonly replaced: Count;
  readonly kept: Count;
  readonly skipped: Count;
  readonly failed: Count;
  readonly lines: readonly ({
    readonly line: number;
    readonly username: string | null;
    readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
    readonly message: string | null;
    readonly reason: { readonly code: string; readonly values: Readonly<Record<string, unknown>> } | null;
    readonly account: {
      readonly remarks: string | null;
      readonly expiresAt: Time | null;
      readonly authorizedAddresses: readonly (string)[];
      readonly allowedClients: readonly (string)[];
    } | null;
  })[];
  readonly linesLeftOut: Count;
  readonly lost: readonly ({ readonly setting: LostSetting; readonly accounts: number })[];
  readonly budget: BudgetPreview | null;
};
export type KnownPassword = { readonly password: string };
export type LimitsAndUsage = { readonly limits: AccountLimits; readonly usage: AccountUsage };
export type LinkAddress = {
  readonly host: string;
  readonly port: number;
  readonly guess: 'listener' | 'browser' | 'interface' | null;
};
export type LiveSession = {
  readonly id: Guid;
  readonly accountId: Guid;
  readonly username: string;
  readonly command: 'connect' | 'bind' | 'udp-associate';
  readonly protocol: 'tcp' | 'udp';
  readonly clientProtocol: 'socks5' | 'socks4' | 'http';
  readonly client: { readonly address: string; readonly port: number };
  readonly destination: { readonly host: string; readonly address: string; readonly port: number };
  readonly gameId: string | null;
  readonly openedAt: Time;
  readonly bytesUp: Bytes;
  readonly bytesDown: Bytes;
  readonly bytesPerSecondUp: BytesPerSecond;
  readonly bytesPerSecondDown: BytesPerSecond;
  readonly node: string;
};
export type LiveSessionPage = {
  readonly items: readonly (LiveSession)[];
  readonly matched: Count;
  readonly total: Count;
  readonly nextCursor: string | null;
};
export type LogLine = {
  readonly id: number;
  readonly at: Time;
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};
export type LogPage = {
  readonly items: readonly (LogLine)[];
  readonly matched: Count;
  readonly total: Count;
  readonly nextCursor: string | null;
  readonly node: string;
};
export type Login = {
  readonly at: Time;
  readonly accountId: Guid | null;
  readonly username: string;
  readonly client: string;
  readonly outcome: LoginOutcome;
  readonly times: number;
};
export type LoginOutcome = 'success' | 'unknown-user' | 'wrong-password' | 'no-credentials' | 'disabled' | 'expired' | 'client-not-allowed' | 'outside-schedule' | 'blocked-address' | 'too-many-sessions' | 'too-many-addresses' | 'over-quota';
export type LoginPage = {
  readonly items: readonly (Login)[];
  readonly matched: Count;
  readonly total: Count;
  readonly nextCursor: string | null;
};
export type LostSetting = 'client-address' | 'mac-address' | 'web-filter' | 'time-schedule' | 'group' | 'left-time' | 'bandwidth-quota' | 'outgoing-address' | 'services' | 'group-account';
export type Me = {
  readonly username: string;
  readonly via: 'console' | 'basic' | 'token';
  readonly address: string;
  readonly role: 'administrator' | 'operator' | 'seller' | 'viewer';
  readonly scopes: readonly (Scope)[] | null;
  readonly operations: readonly (string)[];
  readonly totpEnabled: boolean;
  readonly isPasswordGiven: boolean;
  readonly confirmedUntil: Time | null;
  readonly recoveryCodesLeft: Count;
  readonly version: string;
  readonly startedAt: Time;
  readonly now: Time;
  readonly socks: readonly (string)[];
  readonly link: LinkAddress;
  readonly accounts: Count;
  readonly budget: { readonly bounds: Budget; readonly used: BudgetUsed } | null;
  readonly heartbeatIntervalSeconds: number;
  readonly webhooksEnabled: boolean;
  readonly maxImportBytes: Bytes;
  readonly maxAuthorizedAddresses: Count;
  readonly egressClasses: readonly (string)[];
  readonly timeZone: string;
};
export type NewAccount = {
  readonly username: string;
  readonly password?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly remarks?: string | null | undefined;
  readonly tags?: readonly (Tag)[] | undefined;
  readonly expiresAt?: TimeIn | null | undefined;
  readonly limits?: AccountLimitsChange | undefined;
  readonly allowedClients?: readonly (string)[] | undefined;
  readonly schedule?: string | null | undefined;
  readonly plan?: string | undefined;
  readonly contacts?: ContactsChange | undefined;
  readonly authorizedAddresses?: readonly (string)[] | undefined;
};
export type NewAccounts = {
  readonly pattern?: string | undefined;
  readonly list?: readonly ({
    readonly username: string;
    readonly password?: string | undefined;
    readonly remarks?: string | null | undefined;
    readonly contacts?: ContactsChange | undefined;
  })[] | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly remarks?: string | null | undefined;
  readonly tags?: readonly (Tag)[] | undefined;
  readonly expiresAt?: TimeIn | null | undefined;
  readonly limits?: AccountLimitsChange | undefined;
  readonly allowedClients?: readonly (string)[] | undefined;
  readonly schedule?: string | null | undefined;
  readonly plan?: string | undefined;
  readonly contacts?: ContactsChange | undefined;
  readonly dryRun?: boolean | undefined;
};
export type NewAccountsResult = {
  readonly dryRun: boolean;
  readonly count: Count;
  readonly created: readonly (Credentials)[];
  readonly usernames: readonly (string)[];
  readonly skipped: readonly (SkippedAccount)[];
  readonly budget: BudgetPreview | null;
};
export type NewOperator = {
  readonly name: string;
  readonly password: string;
  readonly role: Role;
  readonly budget?: Budget | undefined;
};
export type NewPlayerLink = { readonly url: string; readonly createdAt: Time; readonly guess: 'browser' | null };
export type NewToken = {
  readonly name: string;
  readonly scopes: readonly (Scope)[];
  readonly expiresAt?: TimeIn | null | undefined;
};
export type Node = {
  readonly name: string;
  readonly isThis: boolean;
  readonly state: 'serving' | 'draining' | 'drained' | 'lost' | 'stopped';
  readonly isDrained: boolean;
  readonly version: string;
  readonly addresses: { readonly socks: readonly (string)[]; readonly admin: readonly (string)[] };
  readonly sessions: Count;
  readonly accountsOnline: Count;
  readonly bytesPerSecondUp: BytesPerSecond;
  readonly bytesPerSecondDown: BytesPerSecond;
  readonly cpuPercent: number;
  readonly databaseDelayMs: number | null;
  readonly startedAt: Time;
  readonly renewedAt: Time;
  readonly leaseLeftMs: Count;
};
export type Nodes = { readonly items: readonly (Node)[] };
export type Notice = {
  readonly id: Guid;
  readonly type: string;
  readonly at: Time;
  readonly channel: NoticeChannel;
  readonly recipient: 'operator' | 'player';
  readonly accountId: Guid | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly state: NoticeState;
  readonly tries: Count;
  readonly triedAt: Time | null;
  readonly nextTryAt: Time | null;
  readonly detail: string | null;
};
export type NoticeChannel = 'webhook' | 'email' | 'telegram' | 'wecom';
export type NoticePage = { readonly items: readonly (Notice)[]; readonly nextCursor: string | null; readonly waiting: Count };
export type NoticePreview = { readonly before: NoticeReach; readonly after: NoticeReach; readonly discarded: Count };
export type NoticeReach = { readonly digests: Count; readonly players: Count; readonly nextDay: Count };
export type NoticeSettings = {
  readonly language: 'zh' | 'en';
  readonly timeZone: string;
  readonly expiryDays: readonly (number)[];
  readonly quotaPercent: readonly (number)[];
  readonly digestHour: number;
  readonly perMinute: number;
  readonly historyDays: number;
  readonly trustSellers: boolean;
  readonly templates: {
    readonly expiring: { readonly zh: string | null; readonly en: string | null };
    readonly expired: { readonly zh: string | null; readonly en: string | null };
    readonly quota: { readonly zh: string | null; readonly en: string | null };
  };
  readonly webhook: { readonly operator: boolean; readonly url: string | null; readonly hasSecret: boolean };
  readonly email: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly host: string | null;
    readonly port: number;
    readonly security: 'tls' | 'starttls' | 'none';
    readonly user: string | null;
    readonly from: string | '';
    readonly to: string | null;
    readonly hasPassword: boolean;
  };
  readonly telegram: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly baseUrl: string;
    readonly chatId: string | null;
    readonly hasToken: boolean;
  };
  readonly wecom: { readonly operator: boolean; readonly baseUrl: string; readonly hasKey: boolean };
  readonly builtIn: {
    readonly expiring: { readonly zh: string; readonly en: string };
    readonly expired: { readonly zh: string; readonly en: string };
    readonly quota: { readonly zh: string; readonly en: string };
  };
};
export type NoticeSettingsChange = {
  readonly language: 'zh' | 'en';
  readonly timeZone: string;
  readonly expiryDays: readonly (number)[];
  readonly quotaPercent: readonly (number)[];
  readonly digestHour?: number | undefined;
  readonly perMinute: number;
  readonly historyDays: number;
  readonly trustSellers?: boolean | undefined;
  readonly templates: {
    readonly expiring: { readonly zh: string | null; readonly en: string | null };
    readonly expired: { readonly zh: string | null; readonly en: string | null };
    readonly quota: { readonly zh: string | null; readonly en: string | null };
  };
  readonly webhook: {
    readonly operator: boolean;
    readonly url: string | null;
    readonly secret?: string | null | undefined;
  };
  readonly email: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly host: string | null;
    readonly port: number;
    readonly security: 'tls' | 'starttls' | 'none';
    readonly user: string | null;
    readonly from: string | '';
    readonly to: string | null;
    readonly password?: string | null | undefined;
  };
  readonly telegram: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly baseUrl: string;
    readonly chatId: string | null;
    readonly token?: string | null | undefined;
  };
  readonly wecom: { readonly operator: boolean; readonly baseUrl: string; readonly key?: string | null | undefined };
};
export type NoticeState = 'pending' | 'delivered' | 'failed' | 'discarded';
export type NoticeTest = {
  readonly channel: NoticeChannel;
  readonly webhook?: {
    readonly operator: boolean;
    readonly url: string | null;
    readonly secret?: string | null | undefined;
  } | undefined;
  readonly email?: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly host: string | null;
    readonly port: number;
    readonly security: 'tls' | 'starttls' | 'none';
    readonly user: string | null;
    readonly from: string | '';
    readonly to: string | null;
    readonly password?: string | null | undefined;
  } | undefined;
  readonly telegram?: {
    readonly operator: boolean;
    readonly players: boolean;
    readonly baseUrl: string;
    readonly chatId: string | null;
    readonly token?: string | null | undefined;
  } | undefined;
  readonly wecom?: { readonly operator: boolean; readonly baseUrl: string; readonly key?: string | null | undefined } | undefined;
};
export type NoticeTestResult = { readonly delivered: boolean; readonly detail: string };
export type NoticesToDiscard = {
  readonly channel?: NoticeChannel | undefined;
  readonly recipient?: 'operator' | 'player' | undefined;
};
export type OnExisting = 'keep' | 'replace' | 'skip';
export type Operator = {
  readonly id: Guid;
  readonly name: string;
  readonly role: Role;
  readonly isEnabled: boolean;
  readonly createdAt: Time;
  readonly totpEnabled: boolean;
  readonly tokens: Count;
  readonly accounts: Count;
  readonly budget: Budget;
  readonly used: BudgetUsed;
};
export type OperatorChange = {
  readonly name?: string | undefined;
  readonly password?: string | undefined;
  readonly role?: Role | undefined;
  readonly revokeTokens?: boolean | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly budget?: BudgetChange | undefined;
};
export type Operators = { readonly items: readonly (Operator)[] };
export type Overview = {
  readonly at: Time;
  readonly sessions: Count;
  readonly playersOnline: Count;
  readonly bytesPerSecondUp: BytesPerSecond;
  readonly bytesPerSecondDown: BytesPerSecond;
  readonly heartbeatsPerMinute: number;
  readonly today: {
    readonly logins: Count;
    readonly failures: Count;
    readonly bytesUp: Bytes;
    readonly bytesDown: Bytes;
    readonly heartbeats: Count;
  };
  readonly accounts: {
    readonly total: Count;
    readonly enabled: Count;
    readonly disabled: Count;
    readonly online: Count;
    readonly expired: Count;
    readonly expiringIn7Days: Count;
    readonly neverUsed: Count;
  };
  readonly runs: {
    readonly queued: Count;
    readonly running: Count;
    readonly succeededToday: Count;
    readonly failedToday: Count;
  };
  readonly topAccounts: readonly ({
    readonly id: Guid;
    readonly username: string;
    readonly bytesUp: Bytes;
    readonly bytesDown: Bytes;
    readonly sessions: Count;
  })[];
  readonly topGames: readonly ({ readonly gameId: string; readonly accountsOnline: Count; readonly heartbeats: Count })[];
};
export type OverviewHistory = {
  readonly range: Range;
  readonly stepSeconds: number;
  readonly at: readonly (Time)[];
  readonly sessions: readonly (number | null)[];
  readonly playersOnline: readonly (number | null)[];
  readonly bytesPerSecondUp: readonly (number | null)[];
  readonly bytesPerSecondDown: readonly (number | null)[];
  readonly logins: readonly (number | null)[];
  readonly failures: readonly (number | null)[];
  readonly heartbeats: readonly (number | null)[];
  readonly runs: readonly (number | null)[];
};
export type PacRules = {
  readonly rules: readonly ({ readonly match: string; readonly via: PacWay })[];
  readonly otherwise: PacWay;
};
export type PacWay = 'proxy' | 'direct';
export type PasswordReset = { readonly password?: string | undefined; readonly revokePlayerLink?: boolean | undefined };
export type Plan = {
  readonly name: string;
  readonly days: number | null;
  readonly startsAtFirstLogin: boolean;
  readonly limits: PlanLimits;
};
export type PlanLimits = {
  readonly maxSessions: number | null;
  readonly maxClientAddresses: number | null;
  readonly bytesPerSecondUp: number | null;
  readonly bytesPerSecondDown: number | null;
  readonly quotaBytes: number | null;
  readonly quotaPeriod: 'day' | 'week' | 'month' | 'never';
};
export type Plans = { readonly plans: readonly (Plan)[] };
export type PlayerLink = { readonly isServed: boolean; readonly createdAt: Time | null; readonly url: string | null };
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail?: string | undefined;
  readonly reason?: ProblemReason | undefined;
  readonly errors?: readonly (FieldError)[] | undefined;
};
export type ProblemCode = 'bad-request' | 'validation' | 'signed-out' | 'wrong-credentials' | 'totp-required' | 'forbidden' | 'wrong-scope' | 'wrong-role' | 'cross-site' | 'confirmation-required' | 'not-found' | 'method-not-allowed' | 'username-taken' | 'address-taken' | 'over-budget' | 'would-lock-you-out' | 'conflict' | 'changed-meanwhile' | 'too-large' | 'unsupported-media-type' | 'host-not-allowed' | 'too-many-requests' | 'queue-full' | 'internal' | 'unavailable';
export type ProblemReason = {
  readonly code: 'account-changed' | 'limits-changed' | 'factor-on' | 'factor-off' | 'no-new-secret' | 'run-finished' | 'run-elsewhere' | 'too-many-tokens' | 'no-account' | 'no-session' | 'no-notice' | 'notice-waits' | 'channel-not-set' | 'wrong-contact-code' | 'no-player-channel' | 'too-many-messages' | 'no-token' | 'no-operator' | 'no-node' | 'no-player-link' | 'fixed-session-key' | 'stopping' | 'hashes' | 'tokens-may-not' | 'administrator-only' | 'of-all-accounts' | 'role-changed' | 'rights-lost' | 'not-own-account' | 'owner-gone' | 'not-whitelisted' | 'through-own-proxy' | 'confirm' | 'cross-site' | 'host-not-allowed' | 'search-too-slow' | 'searches-busy' | 'database-gone' | 'database-replaced' | 'database-corrupt' | 'database-locked' | 'database-read-only' | 'database-away' | 'database-failing' | 'disk-full' | 'name-taken' | 'import-type' | 'importing' | 'too-many-streams' | 'no-player-page' | 'no-pac' | 'too-many-attempts' | 'password-checks-busy' | 'too-many-codes' | 'query-twice' | 'audit-days' | 'lacks-scope' | 'role-lacks-scope' | 'own-role-lacks-scope' | 'file-too-large' | 'preview-outdated' | 'not-listed' | 'no-agent' | 'no-run' | 'no-conversation' | 'backup-busy' | 'backup-postgres';
  readonly values: Readonly<Record<string, unknown>>;
};
export type PublicAddress = {
  readonly host: string | null;
  readonly hostSource: 'default' | 'file' | 'environment' | 'flag' | 'console';
  readonly port: number | null;
  readonly portSource: 'default' | 'file' | 'environment' | 'flag' | 'console';
  readonly configured: { readonly host: string | null; readonly port: number | null };
  readonly link: LinkAddress;
};
export type PublicAddressChange = { readonly host: string | null; readonly port: number | null };
export type QueuedRun = { readonly runId: Guid; readonly session: string | null };
export type Range = 'hour' | 'day' | 'month';
export type RecoveryCodes = { readonly codes: readonly (string)[] };
export type Retention = {
  readonly heartbeatDays: number;
  readonly heartbeatsPerAccount: number;
  readonly runDays: number;
  readonly loginDays: number;
  readonly auditDays: number;
};
export type Role = 'operator' | 'seller' | 'viewer';
export type Run = {
  readonly id: Guid;
  readonly kind: 'message' | 'wake';
  readonly agent: string;
  readonly session: string | null;
  readonly message: string | null;
  readonly origin: 'webhook' | 'api' | 'cli';
  readonly rerunOf: Guid | null;
  readonly status: RunStatus;
  readonly attempt: Count;
  readonly acceptedAt: Time;
  readonly startedAt: Time | null;
  readonly finishedAt: Time | null;
  readonly reply: string | null;
  readonly error: string | null;
  readonly delivery: 'none' | 'pending' | 'delivered' | 'failed';
  readonly deliveryTries: Count;
  readonly nextDeliveryAt: Time | null;
};
export type RunDetail = Run & {
  readonly deliveries: readonly ({
    readonly id: Guid;
    readonly attempt: number;
    readonly channel: string;
    readonly startedAt: Time;
    readonly finishedAt: Time;
    readonly delivered: boolean;
    readonly detail: string;
  })[];
};
export type RunPage = { readonly items: readonly (Run)[]; readonly nextCursor: string | null };
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'timeout' | 'cancelled';
export type Scope = 'accounts:read' | 'accounts:write' | 'egress:write' | 'sessions:read' | 'sessions:write' | 'heartbeats:read' | 'agents:read' | 'agents:write' | 'settings:read' | 'settings:write' | 'audit:read' | 'log:read';
export type SignIn = { readonly username: string; readonly password: string; readonly code?: string | undefined };
export type SkippedAccount = {
  readonly id: Guid | null;
  readonly username: string;
  readonly reason: 'username-taken' | 'username-twice' | 'bad-username' | 'bad-password' | 'bad-contacts' | 'not-found' | 'already-so' | 'no-expiry' | 'too-many-tags' | 'no-plan' | 'failed';
};
export type Tag = string;
export type TagUses = { readonly items: readonly ({ readonly tag: Tag; readonly accounts: Count })[] };
export type Time = string;
export type TimeIn = string;
export type Timeline = { readonly from: Time; readonly to: Time; readonly stretches: readonly (TimelineStretch)[] };
export type TimelineStretch = {
  readonly from: Time;
  readonly to: Time;
  readonly gameId: string | null;
  readonly heartbeats: Count;
};
export type Token = {
  readonly id: Guid;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly (Scope)[];
  readonly createdAt: Time;
  readonly expiresAt: Time | null;
  readonly lastUsedAt: Time | null;
  readonly lastUsedFrom: string | null;
  readonly operator: string | null;
};
export type Tokens = { readonly items: readonly (Token)[] };
export type TotpEnrolment = { readonly secret: string; readonly uri: string };
export type Traffic = { readonly days: readonly (TrafficDay)[] };
export type TrafficDay = {
  readonly day: Day;
  readonly zone: string;
  readonly bytesUp: Bytes;
  readonly bytesDown: Bytes;
  readonly sessions: Count;
};
export type Whitelist = { readonly whitelist: string };
export type WhitelistCheck = {
  readonly valid: boolean;
  readonly entries: readonly ({
    readonly text: string;
    readonly kind: 'address' | 'wildcard' | 'cidr' | 'everyone' | 'invalid';
    readonly first: string | null;
    readonly last: string | null;
  })[];
  readonly yourAddress: string;
  readonly yourAddressAllowed: boolean;
  readonly address: string | null;
  readonly addressAllowed: boolean | null;
  readonly matchedBy: string | null;
};
export type WhitelistQuestion = { readonly whitelist: string; readonly address?: string | undefined };
export const SCOPES: readonly Scope[] = ['accounts:read', 'accounts:write', 'egress:write', 'sessions:read', 'sessions:write', 'heartbeats:read', 'agents:read', 'agents:write', 'settings:read', 'settings:write', 'audit:read', 'log:read'];
export interface Operations {
  signIn: { params: undefined; query: undefined; body: SignIn; answer: Me };
  signOut: { params: undefined; query: undefined; body: undefined; answer: undefined };
  confirmSession: { params: undefined; query: undefined; body: Confirmation; answer: Confirmed };
  getMe: { params: undefined; query: undefined; body: undefined; answer: Me };
  enrolTotp: { params: undefined; query: undefined; body: undefined; answer: TotpEnrolment };
  confirmTotp: { params: undefined; query: undefined; body: { readonly code: string }; answer: RecoveryCodes };
  renewRecoveryCodes: { params: undefined; query: undefined; body: { readonly code: string }; answer: RecoveryCodes };
  disableTotp: { params: undefined; query: undefined; body: { readonly code: string }; answer: undefined };
  getOverview: { params: undefined; query: undefined; body: undefined; answer: Overview };
  getOverviewHistory: { params: undefined; query: { range?: Range | undefined }; body: undefined; answer: OverviewHistory };
  streamEvents: { params: undefined; query: undefined; body: undefined; answer: undefined };
  exportAccounts: { params: undefined; query: { search?: string | undefined; online?: boolean | undefined; enabled?: boolean | undefined; expired?: boolean | undefined; expiringWithinDays?: number | undefined; expiresFrom?: TimeIn | undefined; expiresBefore?: TimeIn | undefined; neverUsed?: boolean | undefined; overQuota?: boolean | undefined; tag?: Tag | undefined; game?: string | undefined; authorizedAddress?: string | undefined; plan?: string | undefined; owner?: Guid | 'none' | undefined; format?: FileFormat | undefined; sort?: AccountSort | undefined; zone?: string | undefined; withHashes?: boolean | undefined }; body: undefined; answer: undefined };
  importAccounts: { params: undefined; query: { format?: FileFormat | undefined; existing?: OnExisting | undefined; encoding?: FileEncoding | undefined; zone?: string | undefined; fileName?: string | undefined; dryRun?: boolean | undefined }; body: Blob | string; answer: ImportReport };
  createAccounts: { params: undefined; query: undefined; body: NewAccounts; answer: NewAccountsResult };
  changeAccounts: { params: undefined; query: undefined; body: BulkRequest; answer: BulkResult };
  listTags: { params: undefined; query: undefined; body: undefined; answer: TagUses };
  listAccounts: { params: undefined; query: { search?: string | undefined; online?: boolean | undefined; enabled?: boolean | undefined; expired?: boolean | undefined; expiringWithinDays?: number | undefined; expiresFrom?: TimeIn | undefined; expiresBefore?: TimeIn | undefined; neverUsed?: boolean | undefined; overQuota?: boolean | undefined; tag?: Tag | undefined; game?: string | undefined; authorizedAddress?: string | undefined; plan?: string | undefined; owner?: Guid | 'none' | undefined; limit?: number | undefined; cursor?: string | undefined; sort?: AccountSort | undefined }; body: undefined; answer: AccountPage };
  createAccount: { params: undefined; query: undefined; body: NewAccount; answer: CreatedAccount };
  getAccount: { params: { id: string }; query: undefined; body: undefined; answer: Account };
  changeAccount: { params: { id: string }; query: undefined; body: AccountChange; answer: Account };
  deleteAccount: { params: { id: string }; query: undefined; body: undefined; answer: DeletedAccount };
  resetPassword: { params: { id: string }; query: undefined; body: PasswordReset; answer: CredentialsInFormats };
  getCredentials: { params: { id: string }; query: undefined; body: KnownPassword; answer: CredentialsInFormats };
  getAccountLimits: { params: { id: string }; query: undefined; body: undefined; answer: LimitsAndUsage };
  changeAccountLimits: { params: { id: string }; query: undefined; body: AccountLimitsChange; answer: LimitsAndUsage };
  resetAccountUsage: { params: { id: string }; query: undefined; body: undefined; answer: LimitsAndUsage };
  getPlayerLink: { params: { id: string }; query: undefined; body: undefined; answer: PlayerLink };
  createPlayerLink: { params: { id: string }; query: undefined; body: undefined; answer: NewPlayerLink };
  revokePlayerLink: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  getPacLink: { params: { id: string }; query: undefined; body: undefined; answer: PlayerLink };
  createPacLink: { params: { id: string }; query: undefined; body: undefined; answer: NewPlayerLink };
  revokePacLink: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  getContactStates: { params: { id: string }; query: undefined; body: undefined; answer: ContactStates };
  sendContactCode: { params: { id: string }; query: undefined; body: { readonly channel: 'email' | 'telegram' }; answer: { readonly delivered: boolean } };
  confirmContact: { params: { id: string }; query: undefined; body: { readonly channel: 'email' | 'telegram'; readonly code: string }; answer: ContactStates };
  listSessions: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; search?: string | undefined; accountId?: Guid | undefined; game?: string | undefined; protocol?: 'tcp' | 'udp' | undefined; sort?: 'openedAt' | 'username' | 'client' | 'destination' | 'gameId' | 'bytes' | 'bytesPerSecond' | '-openedAt' | '-username' | '-client' | '-destination' | '-gameId' | '-bytes' | '-bytesPerSecond' | undefined }; body: undefined; answer: LiveSessionPage };
  endSession: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  endSessions: { params: undefined; query: undefined; body: EndSessions; answer: EndedSessions };
  listLogins: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; accountId?: Guid | undefined; search?: string | undefined; failed?: boolean | undefined; from?: TimeIn | undefined; to?: TimeIn | undefined }; body: undefined; answer: LoginPage };
  getTraffic: { params: { id: string }; query: { days?: number | undefined }; body: undefined; answer: Traffic };
  getTimeline: { params: { id: string }; query: { range?: Range | undefined }; body: undefined; answer: Timeline };
  listHeartbeats: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; accountId?: Guid | undefined; game?: string | undefined; from?: TimeIn | undefined; to?: TimeIn | undefined }; body: undefined; answer: HeartbeatPage };
  getHeartbeatSeries: { params: undefined; query: { range?: Range | undefined; by?: 'game' | 'account' | undefined; limit?: number | undefined }; body: undefined; answer: HeartbeatSeries };
  getHeartbeatSums: { params: undefined; query: { range?: Range | undefined; by?: 'game' | 'account' | undefined; limit?: number | undefined }; body: undefined; answer: HeartbeatSums };
  listAgents: { params: undefined; query: undefined; body: undefined; answer: Agents };
  sendMessage: { params: { name: string }; query: undefined; body: AgentMessage; answer: QueuedRun };
  listRuns: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; agent?: string | undefined; search?: string | undefined; status?: RunStatus | undefined; session?: string | undefined }; body: undefined; answer: RunPage };
  getRun: { params: { id: string }; query: undefined; body: undefined; answer: RunDetail };
  cancelRun: { params: { id: string }; query: undefined; body: undefined; answer: RunDetail };
  rerunRun: { params: { id: string }; query: undefined; body: undefined; answer: QueuedRun };
  listAgentSessions: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; agent?: string | undefined; search?: string | undefined }; body: undefined; answer: AgentSessionPage };
  getAgentSession: { params: { key: string }; query: undefined; body: undefined; answer: AgentSessionDetail };
  deleteAgentSession: { params: { key: string }; query: undefined; body: undefined; answer: undefined };
  listNodes: { params: undefined; query: undefined; body: undefined; answer: Nodes };
  drainNode: { params: { name: string }; query: undefined; body: undefined; answer: undefined };
  undrainNode: { params: { name: string }; query: undefined; body: undefined; answer: undefined };
  listOperators: { params: undefined; query: undefined; body: undefined; answer: Operators };
  createOperator: { params: undefined; query: undefined; body: NewOperator; answer: Operator };
  changeOperator: { params: { id: string }; query: undefined; body: OperatorChange; answer: Operator };
  deleteOperator: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  resetOperatorTotp: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  listNotices: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; state?: NoticeState | undefined; channel?: NoticeChannel | undefined; account?: Guid | undefined }; body: undefined; answer: NoticePage };
  discardNotices: { params: undefined; query: undefined; body: NoticesToDiscard; answer: { readonly discarded: Count } };
  retryNotice: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  getWhitelist: { params: undefined; query: undefined; body: undefined; answer: Whitelist };
  setWhitelist: { params: undefined; query: { keepMyAccess?: boolean | undefined }; body: Whitelist; answer: Whitelist };
  checkWhitelist: { params: undefined; query: undefined; body: WhitelistQuestion; answer: WhitelistCheck };
  getGameRules: { params: undefined; query: undefined; body: undefined; answer: GameRules };
  setGameRules: { params: undefined; query: undefined; body: GameRulesChange; answer: GameRules };
  forgetGameRules: { params: undefined; query: undefined; body: undefined; answer: GameRules };
  testGameRules: { params: undefined; query: undefined; body: GameRuleTest; answer: GameRuleTestResult };
  getRetention: { params: undefined; query: undefined; body: undefined; answer: Retention };
  setRetention: { params: undefined; query: undefined; body: Retention; answer: Retention };
  getPublicAddress: { params: undefined; query: undefined; body: undefined; answer: PublicAddress };
  setPublicAddress: { params: undefined; query: undefined; body: PublicAddressChange; answer: PublicAddress };
  getPlans: { params: undefined; query: undefined; body: undefined; answer: Plans };
  setPlans: { params: undefined; query: undefined; body: Plans; answer: Plans };
  getPacRules: { params: undefined; query: undefined; body: undefined; answer: PacRules };
  setPacRules: { params: undefined; query: undefined; body: PacRules; answer: PacRules };
  getNoticeSettings: { params: undefined; query: undefined; body: undefined; answer: NoticeSettings };
  setNoticeSettings: { params: undefined; query: undefined; body: NoticeSettingsChange; answer: NoticeSettings };
  previewNoticeSettings: { params: undefined; query: undefined; body: NoticeSettingsChange; answer: NoticePreview };
  testNotice: { params: undefined; query: undefined; body: NoticeTest; answer: NoticeTestResult };
  setAdminPassword: { params: undefined; query: undefined; body: AdminPasswordChange; answer: undefined };
  getEffectiveConfig: { params: undefined; query: undefined; body: undefined; answer: EffectiveConfig };
  downloadBackup: { params: undefined; query: undefined; body: undefined; answer: undefined };
  listAudit: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; search?: string | undefined; action?: string | undefined; via?: 'console' | 'api' | 'token' | 'cli' | 'daemon' | 'player' | undefined; objectId?: string | undefined; importId?: Guid | undefined; from?: TimeIn | undefined; to?: TimeIn | undefined }; body: undefined; answer: AuditPage };
  listLog: { params: undefined; query: { limit?: number | undefined; cursor?: string | undefined; level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined; search?: string | undefined; after?: number | undefined }; body: undefined; answer: LogPage };
  listTokens: { params: undefined; query: undefined; body: undefined; answer: Tokens };
  createToken: { params: undefined; query: undefined; body: NewToken; answer: CreatedToken };
  revokeToken: { params: { id: string }; query: undefined; body: undefined; answer: undefined };
  getOpenApi: { params: undefined; query: undefined; body: undefined; answer: undefined };
  getDocs: { params: undefined; query: undefined; body: undefined; answer: undefined };
}
export const OPERATIONS: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {
  signIn: ['POST', '/api/v1/session'],
  signOut: ['DELETE', '/api/v1/session'],
  confirmSession: ['POST', '/api/v1/session/confirm'],
  getMe: ['GET', '/api/v1/me'],
  enrolTotp: ['POST', '/api/v1/session/totp'],
  confirmTotp: ['PUT', '/api/v1/session/totp'],
  renewRecoveryCodes: ['POST', '/api/v1/session/recovery-codes'],
  disableTotp: ['POST', '/api/v1/session/totp/disable'],
  getOverview: ['GET', '/api/v1/overview'],
  getOverviewHistory: ['GET', '/api/v1/overview/history'],
  streamEvents: ['GET', '/api/v1/events'],
  exportAccounts: ['GET', '/api/v1/accounts/export'],
  importAccounts: ['POST', '/api/v1/accounts/import'],
  createAccounts: ['POST', '/api/v1/accounts/batch'],
  changeAccounts: ['POST', '/api/v1/accounts/bulk'],
  listTags: ['GET', '/api/v1/accounts/tags'],
  listAccounts: ['GET', '/api/v1/accounts'],
  createAccount: ['POST', '/api/v1/accounts'],
  getAccount: ['GET', '/api/v1/accounts/{id}'],
  changeAccount: ['PATCH', '/api/v1/accounts/{id}'],
  deleteAccount: ['DELETE', '/api/v1/accounts/{id}'],
  resetPassword: ['POST', '/api/v1/accounts/{id}/password'],
  getCredentials: ['POST', '/api/v1/accounts/{id}/link'],
  getAccountLimits: ['GET', '/api/v1/accounts/{id}/limits'],
  changeAccountLimits: ['PATCH', '/api/v1/accounts/{id}/limits'],
  resetAccountUsage: ['POST', '/api/v1/accounts/{id}/usage/reset'],
  getPlayerLink: ['GET', '/api/v1/accounts/{id}/player-link'],
  createPlayerLink: ['POST', '/api/v1/accounts/{id}/player-link'],
  revokePlayerLink: ['DELETE', '/api/v1/accounts/{id}/player-link'],
  getPacLink: ['GET', '/api/v1/accounts/{id}/pac-link'],
  createPacLink: ['POST', '/api/v1/accounts/{id}/pac-link'],
  revokePacLink: ['DELETE', '/api/v1/accounts/{id}/pac-link'],
  getContactStates: ['GET', '/api/v1/accounts/{id}/contacts'],
  sendContactCode: ['POST', '/api/v1/accounts/{id}/contacts/code'],
  confirmContact: ['POST', '/api/v1/accounts/{id}/contacts/confirm'],
  listSessions: ['GET', '/api/v1/sessions'],
  endSession: ['DELETE', '/api/v1/sessions/{id}'],
  endSessions: ['POST', '/api/v1/sessions/end'],
  listLogins: ['GET', '/api/v1/logins'],
  getTraffic: ['GET', '/api/v1/accounts/{id}/traffic'],
  getTimeline: ['GET', '/api/v1/accounts/{id}/timeline'],
  listHeartbeats: ['GET', '/api/v1/heartbeats'],
  getHeartbeatSeries: ['GET', '/api/v1/heartbeats/series'],
  getHeartbeatSums: ['GET', '/api/v1/heartbeats/sums'],
  listAgents: ['GET', '/api/v1/agents'],
  sendMessage: ['POST', '/api/v1/agents/{name}/messages'],
  listRuns: ['GET', '/api/v1/runs'],
  getRun: ['GET', '/api/v1/runs/{id}'],
  cancelRun: ['POST', '/api/v1/runs/{id}/cancel'],
  rerunRun: ['POST', '/api/v1/runs/{id}/rerun'],
  listAgentSessions: ['GET', '/api/v1/agent-sessions'],
  getAgentSession: ['GET', '/api/v1/agent-sessions/{key}'],
  deleteAgentSession: ['DELETE', '/api/v1/agent-sessions/{key}'],
  listNodes: ['GET', '/api/v1/nodes'],
  drainNode: ['POST', '/api/v1/nodes/{name}/drain'],
  undrainNode: ['POST', '/api/v1/nodes/{name}/undrain'],
  listOperators: ['GET', '/api/v1/operators'],
  createOperator: ['POST', '/api/v1/operators'],
  changeOperator: ['PATCH', '/api/v1/operators/{id}'],
  deleteOperator: ['DELETE', '/api/v1/operators/{id}'],
  resetOperatorTotp: ['DELETE', '/api/v1/operators/{id}/totp'],
  listNotices: ['GET', '/api/v1/notices'],
  discardNotices: ['POST', '/api/v1/notices/discard'],
  retryNotice: ['POST', '/api/v1/notices/{id}/retry'],
  getWhitelist: ['GET', '/api/v1/settings/whitelist'],
  setWhitelist: ['PUT', '/api/v1/settings/whitelist'],
  checkWhitelist: ['POST', '/api/v1/settings/whitelist/check'],
  getGameRules: ['GET', '/api/v1/settings/games'],
  setGameRules: ['PUT', '/api/v1/settings/games'],
  forgetGameRules: ['DELETE', '/api/v1/settings/games'],
  testGameRules: ['POST', '/api/v1/settings/games/test'],
  getRetention: ['GET', '/api/v1/settings/retention'],
  setRetention: ['PUT', '/api/v1/settings/retention'],
  getPublicAddress: ['GET', '/api/v1/settings/public-address'],
  setPublicAddress: ['PUT', '/api/v1/settings/public-address'],
  getPlans: ['GET', '/api/v1/settings/plans'],
  setPlans: ['PUT', '/api/v1/settings/plans'],
  getPacRules: ['GET', '/api/v1/settings/pac'],
  setPacRules: ['PUT', '/api/v1/settings/pac'],
  getNoticeSettings: ['GET', '/api/v1/settings/notices'],
  setNoticeSettings: ['PUT', '/api/v1/settings/notices'],
  previewNoticeSettings: ['POST', '/api/v1/settings/notices/preview'],
  testNotice: ['POST', '/api/v1/settings/notices/test'],
  setAdminPassword: ['PUT', '/api/v1/settings/admin-password'],
  getEffectiveConfig: ['GET', '/api/v1/settings/effective'],
  downloadBackup: ['GET', '/api/v1/backup'],
  listAudit: ['GET', '/api/v1/audit'],
  listLog: ['GET', '/api/v1/log'],
  listTokens: ['GET', '/api/v1/tokens'],
  createToken: ['POST', '/api/v1/tokens'],
  revokeToken: ['DELETE', '/api/v1/tokens/{id}'],
  getOpenApi: ['GET', '/api/v1/openapi.json'],
  getDocs: ['GET', '/api/v1/docs'],
};
