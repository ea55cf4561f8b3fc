// The wiring of the operator's desk: what the console and /api/v1 need beside accounts, settings and agents.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import { spooled } from '../account-files/spool.js';
import type { Measured } from '../admin/metrics.js';
import type { AdminServerUses } from '../admin/server.js';
import type { AboutDaemon } from '../admin/v1/session.js';
import type { Effective } from '../admin/v1/settings-handlers.js';
import type { Config, Loaded } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { Accounts } from '../core/accounts/accounts.js';
import type { AccountDirectory } from '../core/accounts/directory.js';
import { LiveActivity } from '../core/accounts/live-activity.js';
import { createLoginLog, type NoteLogin } from '../core/accounts/login-log.js';
import type { GameRules } from '../core/heartbeats/game-rules.js';
import { createGameRulesSetting, GAME_RULES_KEY } from '../core/heartbeats/game-rules-setting.js';
import type { Heartbeat, HeartbeatRetention } from '../core/heartbeats/heartbeat.js';
import type { HeartbeatPool } from '../core/heartbeats/heartbeat-pool.js';
import type { Recorder } from '../core/heartbeats/heartbeat-recorder.js';
import { createHeartbeatSums } from '../core/heartbeats/heartbeat-sums.js';
import type { Log } from '../core/log.js';
import { createApiTokens } from '../core/operator/api-tokens.js';
import { createChangeBell } from '../core/operator/change-bell.js';
import { createConsoleSessions } from '../core/operator/console-sessions.js';
import { createFailureLimit } from '../core/operator/failure-limit.js';
import { createHistory } from '../core/operator/history.js';
import { createNotices, type Notices } from '../core/operator/notices.js';
import { createOverview } from '../core/operator/overview.js';
import { createRetentionSetting, RETENTION_KEY } from '../core/operator/retention-setting.js';
import { createSecondFactor, SECOND_FACTOR_KEY } from '../core/operator/second-factor.js';
import type { Store } from '../core/ports.js';
import type { SessionRegistry } from '../core/sessions/session.js';
import { compilePattern } from '../games-pattern.js';
import { createSignedPost } from '../hooks/channels/http.js';
import { readVersion } from '../version.js';

/** Where the configuration comes from, as the settings page shows it. */
export type ConfigSource = Pick<Loaded, 'file' | 'effective'>;

export interface DeskUses {
  readonly config: Config;
  readonly source: ConfigSource;
  readonly core: {
    readonly store: Store;
    readonly directory: AccountDirectory;
    readonly accounts: Accounts;
    readonly pool: HeartbeatPool;
  };
  readonly sessions: SessionRegistry;
  readonly limits: AccountLimitsService;
  readonly log: Log;
  /** Known once the listeners are up. */
  readonly socksAddresses: () => readonly string[];
  readonly now: () => number;
}

export interface Desk {
  /** What the management plane needs of it. */
  readonly admin: Pick<AdminServerUses, 'operator' | 'health' | 'metrics' | 'consoleFolder'>;
  /** Told of every login of a player. */
  readonly logins: NoteLogin;
  /** What holds now, whoever has set it. */
  readonly heartbeatRetention: HeartbeatRetention;
  readonly webhooks: Config['webhooks'];
  /** The rules in force, whoever has set them. */
  readonly gameRules: GameRules;
  /** Counts the sessions that `recorder` is told of. */
  watch(recorder: Recorder): Recorder;
  /** Counts a heartbeat entry. */
  heartbeat(entry: Heartbeat): void;
  /** Takes in a setting that another process changed. */
  reloadSetting(key: string): Promise<void>;
  start(): void;
  /** From now on it says that it is not ready. */
  stopping(): void;
  /** Stops the timers and writes what is left. */
  close(): Promise<void>;
}

/** Where the console is built into, seen from dist/src. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../console', import.meta.url));

/** Where the configuration has what the settings page calls by these names. */
const RETENTION_PATHS = {
  heartbeatDays: 'heartbeats.retention.days',
  heartbeatsPerAccount: 'heartbeats.retention.perAccount',
  runDays: 'webhooks.retention',
  loginDays: 'admin.logins.days',
  auditDays: 'admin.audit.days',
} as const;

/** Sources whose wrong sign-ins are remembered. */
const MAX_FAILURE_SOURCES = 10_000;
/** Groups of logins that are remembered for a minute. */
const MAX_LOGIN_GROUPS = 20_000;
const TICK_MS = 1_000;
const RUNS_EVERY_MS = 2_000;
const SUMS_EVERY_MS = 20_000;
const TRIM_EVERY_MS = 60_000;
const TRIM_SLICE = 5_000;
const BELL_QUIET_MS = 300;
const DAY_MS = 86_400_000;

/** Loads what is kept of it. Rejects when the database cannot be read. */
export async function openDesk(uses: DeskUses): Promise<Desk> {
  const { config, core, sessions, limits, log, now } = uses;
  const { store, directory, pool } = core;
  const { session, maxTokens } = config.admin;
  const startedAt = now();
  const version = readVersion();
  const onError = (err: unknown): void => log.warn({ err }, 'use of a session or token not noted');

  // Who may come in.
  const consoleSessions = createConsoleSessions({
    store: store.consoleSessions,
    now,
    idleMs: session.idleTimeoutMs,
    maxAgeMs: session.maxAgeMs,
    maxSessions: session.max,
    onError,
  });
  const apiTokens = createApiTokens({ store: store.apiTokens, now, newId: randomUUID, maxTokens, onError });
  const secondFactor = createSecondFactor({ settings: store.settings, now });
  await consoleSessions.load();
  await apiTokens.load();
  await secondFactor.reload();
  const signInFailures = createFailureLimit({
    maxFailures: session.maxFailures,
    windowMs: session.failureWindowMs,
    maxSources: MAX_FAILURE_SOURCES,
    now,
  });

  // What happens, and what happened.
  const bell = createChangeBell(BELL_QUIET_MS);
  directory.onChanged((id) => {
    bell.ring('accounts', id);
    bell.ring('audit');
  });
  const activity = new LiveActivity(now());
  const today = Math.floor(now() / DAY_MS);
  const [ofToday] = await store.samples.list('day', today * DAY_MS);
  activity.load(ofToday, await store.samples.trafficOf(today));
  directory.onClosed((account, reason) => {
    if (reason === 'account-removed') activity.forget(account.id);
  });
  const heartbeatSums = createHeartbeatSums({ store: store.heartbeatSums, now });
  const history = createHistory({ store: store.samples, activity, now });
  let runsTold = '';
  /** Runs change in many places: pages are told when their numbers have. */
  async function watchRuns(): Promise<void> {
    const { runs } = await overview();
    const told = JSON.stringify(runs);
    if (told === runsTold) return;
    runsTold = told;
    bell.ring('runs');
    bell.ring('agents');
  }
  const overview = createOverview({
    directory,
    sessions,
    activity,
    samples: store.samples,
    heartbeatSums,
    now,
  });
  const logins = createLoginLog({
    store: store.logins,
    now,
    maxGroups: MAX_LOGIN_GROUPS,
    onNote: (outcome) => activity.noteLogin(outcome),
  });
  const gameRules = createGameRulesSetting({
    settings: store.settings,
    fileRules: config.heartbeats.games,
    compile: compilePattern,
  });
  await gameRules.reload();

  const retention = createRetentionSetting({
    settings: store.settings,
    ofFile: {
      heartbeatDays: config.heartbeats.retention.days,
      heartbeatsPerAccount: config.heartbeats.retention.perAccount,
      runDays: Math.max(1, Math.round(config.webhooks.retentionMs / DAY_MS)),
      loginDays: config.admin.logins.days,
      auditDays: config.admin.audit.days,
    },
  });
  await retention.reload();
  pool.setMaxPerAccount(retention.current().heartbeatsPerAccount);

  async function effective(): Promise<Effective> {
    const saved = retention.saved();
    const rules = gameRules.source() === 'console';
    const changed = new Map<string, string>([
      ...(rules ? ([['heartbeats.games', `${gameRules.rules().length} rules`]] as const) : []),
      ...Object.entries(RETENTION_PATHS).flatMap(([name, path]) => {
        const key = name as keyof typeof RETENTION_PATHS;
        const value = retention.current()[key];
        return saved.has(key) ? ([[path, key === 'runDays' ? `${value}d` : String(value)]] as const) : [];
      }),
    ]);
    return {
      configFile: uses.source.file,
      entries: uses.source.effective.map((entry) => {
        const value = changed.get(entry.path);
        return value === undefined ? entry : { ...entry, value, source: 'console' };
      }),
      database: {
        client: config.database.client,
        bytes: await store.size(),
        heartbeats: pool.size,
      },
      startedAt: new Date(startedAt).toISOString(),
    };
  }

  const stopped = new AbortController();
  const notices = config.notices.url === null ? null : openNotices(config.notices.url);
  function openNotices(url: string): Notices {
    const { secret, timeoutMs, maxTries, backoffMs, expiringMs } = config.notices;
    const post = createSignedPost({ url, secret: secret?.reveal() ?? null, timeoutMs, now });
    return createNotices({
      store: store.notices,
      async send(id, body) {
        const outcome = await post(id, body, stopped.signal);
        return { ok: outcome.ok, again: !outcome.ok && outcome.again, detail: outcome.detail };
      },
      accounts: () => directory.all(),
      quotaUse(id) {
        const { limits: set, usage } = limits.glance(id);
        if (set.quotaBytes === null) return null;
        return { share: usage.periodBytes / set.quotaBytes, period: String(usage.periodStartedAt) };
      },
      expiringMs,
      maxLoginFailures: config.notices.loginFailures,
      loginFailureWindowMs: config.notices.loginFailureWindowMs,
      maxTries,
      backoffMs,
      now,
      newId: randomUUID,
      onGivenUp: ({ type, key }, detail) => log.warn({ type, key, detail }, 'notice not delivered'),
    });
  }

  const timers: NodeJS.Timeout[] = [];
  const failing = new Set<string>();
  /** A failure is said once, until it works again; what was not written waits. */
  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      failing.delete(what);
    } catch (err) {
      if (!failing.has(what)) log.error({ err }, `${what} not written; kept and tried again`);
      failing.add(what);
    }
  }
  const every = (ms: number, task: () => void): void => {
    timers.push(setInterval(task, ms).unref());
  };

  function tick(): void {
    activity.tick(now());
    pool.setMaxPerAccount(retention.current().heartbeatsPerAccount);
    history.observe(sessions.size, sessions.accountCount);
    void attempt('the history of charts', history.sampleIfDue);
    void attempt('the log of logins', logins.flush);
  }

  async function trim(): Promise<void> {
    const { loginDays, auditDays } = retention.current();
    await store.logins.trim(now() - loginDays * DAY_MS, config.admin.logins.maxEntries, TRIM_SLICE);
    await store.audit.trim(now() - auditDays * DAY_MS, TRIM_SLICE);
  }

  async function measure(): Promise<Measured> {
    activity.tick(now());
    const [{ accounts, runs }, databaseBytes] = await Promise.all([overview(), store.size()]);
    return {
      version,
      sessions: sessions.size,
      accountsOnline: sessions.accountCount,
      accounts: { enabled: accounts.enabled, disabled: accounts.disabled, expired: accounts.expired },
      bytesUp: activity.totals.bytesUp,
      bytesDown: activity.totals.bytesDown,
      logins: activity.outcomes,
      heartbeats: activity.totals.heartbeats,
      heartbeatsPending: pool.pendingSize,
      heartbeatsDropped: pool.dropped,
      runs: { queued: runs.queued, running: runs.running },
      databaseBytes,
    };
  }

  let isStopping = false;
  const about = (): AboutDaemon => ({
    version,
    startedAt,
    socks: uses.socksAddresses(),
    heartbeatIntervalMs: config.heartbeats.intervalMs,
    webhooksEnabled: config.webhooks.enabled,
    maxImportBytes: config.admin.maxImportBytes,
  });

  return {
    admin: {
      operator: {
        consoleSessions,
        secondFactor,
        signInFailures,
        apiTokens,
        audit: store.audit,
        limits,
        sessions,
        activity,
        logins: store.logins,
        heartbeats: store.heartbeats,
        heartbeatSums,
        heartbeatIntervalMs: config.heartbeats.intervalMs,
        history,
        overview,
        bell,
        maxEventStreams: config.admin.maxEventStreams,
        maxBulkBodyBytes: config.admin.maxBulkBodyBytes,
        exportAccounts: (format, views, options) => {
          const withLimits = function* () {
            for (const view of views) yield { view, limits: limits.glance(view.account.id) };
          };
          return writeAccounts(format, withLimits(), options);
        },
        importAccounts: (format, input, options) =>
          spooled(config.dataDir, input, (file) =>
            importAccounts(readAccounts(format, file), {
              ...options,
              accounts: core.accounts,
              limits,
              now,
              newId: randomUUID,
            }),
          ),
        maxImportBytes: config.admin.maxImportBytes,
        gameRules,
        compilePattern,
        retention,
        effective,
        about,
      },
      health: {
        async ready() {
          if (isStopping) throw new Error('the daemon is stopping');
          await store.ping();
        },
      },
      metrics: { measure, metricsToken: config.metrics.token?.reveal() ?? null },
      consoleFolder: CONSOLE_FOLDER,
    },
    logins: {
      note(outcome, username, accountId, client) {
        logins.note(outcome, username, accountId, client);
        if (outcome !== 'success') notices?.loginFailed(client);
      },
    },
    gameRules,
    heartbeatRetention: {
      get maxAgeMs() {
        return retention.current().heartbeatDays * DAY_MS;
      },
      get maxPerAccount() {
        return retention.current().heartbeatsPerAccount;
      },
    },
    webhooks: {
      ...config.webhooks,
      get retentionMs() {
        return retention.saved().has('runDays')
          ? retention.current().runDays * DAY_MS
          : config.webhooks.retentionMs;
      },
    },

    watch: (recorder) => ({
      ...recorder,
      opened(opened) {
        activity.opened(opened);
        bell.ring('sessions');
        return recorder.opened(opened);
      },
      closed(closed) {
        activity.closed(closed);
        bell.ring('sessions');
        recorder.closed(closed);
      },
    }),

    heartbeat(entry) {
      activity.noteHeartbeat();
      heartbeatSums.record(entry);
    },

    async reloadSetting(key) {
      bell.ring('settings');
      if (key === SECOND_FACTOR_KEY) await secondFactor.reload();
      if (key === GAME_RULES_KEY) await gameRules.reload();
      if (key === RETENTION_KEY) await retention.reload();
    },

    stopping() {
      isStopping = true;
    },

    start() {
      every(TICK_MS, tick);
      every(RUNS_EVERY_MS, () => {
        if (bell.isHeard()) void attempt('the state of runs', watchRuns);
      });
      if (notices) {
        every(config.notices.lookEveryMs, () => void attempt('notices', notices.look));
        every(TICK_MS, () => void attempt('notices', notices.deliver));
      }
      every(SUMS_EVERY_MS, () => void attempt('sums of heartbeats', heartbeatSums.flush));
      every(TRIM_EVERY_MS, () => void attempt('the end of old logs', trim));
    },

    async close() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      bell.close();
      await attempt('the log of logins', logins.flush);
      await attempt('sums of heartbeats', heartbeatSums.flush);
    },
  };
}
