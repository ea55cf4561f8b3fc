// The wiring of the operator's desk: what the console and /api/v1 need beside accounts, settings and agents.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import { spooled } from '../account-files/spool.js';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { NoteLogin } from '../core/accounts/login-log.js';
import { everyStep } from '../core/every-step.js';
import type { Log } from '../core/log.js';
import type { SessionRegistry } from '../core/sessions/session.js';
import { compilePattern } from '../games-pattern.js';
import type { AdminServerUses } from '../http/server.js';
import { trimLogs } from '../store/trim-logs.js';
import { readVersion } from '../version.js';
import { openSignIn } from './auth.js';
import type { Core } from './core.js';
import { createMeasure } from './metrics.js';
import { openNotices } from './notices.js';
import { type ConfigSource, type DeskSettings, openSettings } from './settings.js';
import { type Happenings, openHappenings } from './stats.js';
import { createChores } from './timers.js';

export interface DeskUses {
  readonly config: Config;
  readonly source: ConfigSource;
  readonly core: Pick<Core, 'store' | 'directory' | 'accounts' | 'pool' | 'credentials' | 'settings'>;
  readonly sessions: SessionRegistry;
  readonly limits: AccountLimitsService;
  readonly log: Log;
  /** What is wrong with the database; null when nothing is. */
  readonly storageProblem: () => Promise<string | null>;
  /** Workers of the data plane by engine; known once it runs. */
  readonly engines: () => Readonly<Record<'native' | 'node', number>>;
  /** Known once the listeners are up. */
  readonly socksAddresses: () => readonly string[];
  readonly now: () => number;
}

export interface Desk
  extends Pick<Happenings, 'live' | 'heartbeat'>,
    Pick<DeskSettings, 'gameRules' | 'heartbeatRetention' | 'webhooks'> {
  /** What the management plane needs of it. */
  readonly admin: Pick<AdminServerUses, 'operator' | 'health' | 'metrics' | 'consoleFolder'>;
  /** Told of every login of a player. */
  readonly logins: NoteLogin;
  start(): void;
  /** From now on it says that it is not ready. */
  stopping(): void;
  /** Stops the timers and writes what is left. Rejects when it cannot. */
  close(): Promise<void>;
}

/** Where the console is built into, seen from dist/src. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../console', import.meta.url));

const TICK_MS = 1_000;
const RUNS_EVERY_MS = 2_000;
const SUMS_EVERY_MS = 20_000;
const TRIM_EVERY_MS = 60_000;

/** Loads what is kept of it. Rejects when the database cannot be read. */
export async function openDesk(uses: DeskUses): Promise<Desk> {
  const { config, source, core, sessions, limits, log, now } = uses;
  const { store, pool } = core;
  const startedAt = now();
  const version = readVersion();

  const signIn = await openSignIn({
    config,
    store,
    settings: core.settings,
    credentials: core.credentials,
    log,
    now,
  });
  const happenings = await openHappenings({
    core,
    sessions,
    maxGamesPerAccount: config.heartbeats.gamesPerAccount,
    maxBlockedNames: config.admin.logins.maxBlockedNames,
    now,
  });
  const { bell, activity, heartbeatSums, history, overview, logins } = happenings;
  const settings = await openSettings({ config, source, store, settings: core.settings, pool, startedAt });
  core.settings.onReloaded(() => bell.ring('settings'));
  const { gameRules, retention, effective } = settings;
  const stopped = new AbortController();
  const notices = openNotices({ config: config.notices, core, limits, log, signal: stopped.signal, now });
  const { every, attempt, stop } = createChores(log);

  function tick(): void {
    activity.tick(now());
    history.observe(sessions.size, sessions.accountCount);
    void attempt('the history of charts', history.sampleIfDue);
    void attempt('the log of logins', logins.flush);
  }

  const { maxEntries: maxLogins } = config.admin.logins;
  const trim = (): Promise<void> =>
    trimLogs({ store, retention, maxLogins, now: now(), signal: stopped.signal });

  let isStopping = false;
  return {
    admin: {
      operator: {
        ...signIn,
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
            importAccounts(readAccounts(format, file, options), {
              ...options,
              accounts: core.accounts,
              limits,
              audit: core.store.audit,
              now,
              newId: randomUUID,
              onError: (err) => log.error({ err }, 'accounts of a file not written'),
            }),
          ),
        maxImportBytes: config.admin.maxImportBytes,
        gameRules,
        compilePattern,
        retention,
        publicAddress: settings.publicAddress,
        configuredAddress: settings.configuredAddress,
        effective,
        about: () => ({
          version,
          startedAt,
          socks: uses.socksAddresses(),
          heartbeatIntervalMs: config.heartbeats.intervalMs,
          webhooksEnabled: config.webhooks.enabled,
          maxImportBytes: config.admin.maxImportBytes,
          egressClasses: Object.keys(config.egress.classes),
        }),
      },
      health: {
        async trouble() {
          if (isStopping) return 'stopping';
          const problem = await uses.storageProblem();
          if (problem === null) await store.ping();
          return problem;
        },
      },
      metrics: {
        measure: createMeasure({ version, core, sessions, engines: uses.engines, happenings, now }),
        metricsToken: config.metrics.token?.reveal() ?? null,
      },
      consoleFolder: CONSOLE_FOLDER,
    },
    logins: {
      note(outcome, username, accountId, client) {
        logins.note(outcome, username, accountId, client);
        if (outcome !== 'success') notices?.loginFailed(client);
      },
    },
    gameRules,
    heartbeatRetention: settings.heartbeatRetention,
    webhooks: settings.webhooks,
    live: happenings.live,
    heartbeat: happenings.heartbeat,

    stopping() {
      isStopping = true;
    },

    start() {
      every(TICK_MS, tick);
      every(RUNS_EVERY_MS, () => {
        if (bell.isHeard()) void attempt('the state of runs', happenings.watchRuns);
      });
      if (notices) {
        every(config.notices.lookEveryMs, () => void attempt('notices', notices.look));
        every(TICK_MS, () => void attempt('notices', notices.deliver));
      }
      every(SUMS_EVERY_MS, () => void attempt('sums of heartbeats', heartbeatSums.flush));
      every(TRIM_EVERY_MS, () => void attempt('the end of old logs', trim));
    },

    async close() {
      stop();
      stopped.abort();
      bell.close();
      await everyStep(logins.flush, heartbeatSums.flush);
    },
  };
}
