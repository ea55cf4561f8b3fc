// The wiring of the operator's desk: what the console and /api/v1 need beside accounts, settings and agents.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import { spooled } from '../account-files/spool.js';
import type { AdminServerUses } from '../admin/server.js';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { NoteLogin } from '../core/accounts/login-log.js';
import type { Log } from '../core/log.js';
import { SECOND_FACTOR_KEY } from '../core/operator/second-factor.js';
import type { SessionRegistry } from '../core/sessions/session.js';
import { compilePattern } from '../games-pattern.js';
import { readVersion } from '../version.js';
import type { Core } from './core.js';
import { createChores } from './desk/chores.js';
import { type Happenings, openHappenings } from './desk/happenings.js';
import { createMeasure } from './desk/metrics.js';
import { openNotices } from './desk/notices.js';
import { trimLogs } from './desk/old-logs.js';
import { type ConfigSource, type DeskSettings, openSettings } from './desk/settings.js';
import { openSignIn } from './desk/sign-in.js';

export interface DeskUses {
  readonly config: Config;
  readonly source: ConfigSource;
  readonly core: Pick<Core, 'store' | 'directory' | 'accounts' | 'pool'>;
  readonly sessions: SessionRegistry;
  readonly limits: AccountLimitsService;
  readonly log: Log;
  /** Known once the listeners are up. */
  readonly socksAddresses: () => readonly string[];
  readonly now: () => number;
}

export interface Desk
  extends Pick<Happenings, 'watch' | 'heartbeat'>,
    Pick<DeskSettings, 'gameRules' | 'heartbeatRetention' | 'webhooks'> {
  /** What the management plane needs of it. */
  readonly admin: Pick<AdminServerUses, 'operator' | 'health' | 'metrics' | 'consoleFolder'>;
  /** Told of every login of a player. */
  readonly logins: NoteLogin;
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

  const signIn = await openSignIn({ config, store, log, now });
  const happenings = await openHappenings({ core, sessions, now });
  const { bell, activity, heartbeatSums, history, overview, logins } = happenings;
  const settings = await openSettings({ config, source, store, pool, startedAt });
  const { gameRules, retention, effective } = settings;
  pool.setMaxPerAccount(retention.current().heartbeatsPerAccount);
  const stopped = new AbortController();
  const notices = openNotices({ config: config.notices, core, limits, log, signal: stopped.signal, now });
  const { every, attempt, stop } = createChores(log);

  function tick(): void {
    activity.tick(now());
    pool.setMaxPerAccount(retention.current().heartbeatsPerAccount);
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
            importAccounts(readAccounts(format, file), {
              ...options,
              accounts: core.accounts,
              limits,
              now,
              newId: randomUUID,
              onError: (err) => log.error({ err }, 'accounts of a file not written'),
            }),
          ),
        maxImportBytes: config.admin.maxImportBytes,
        gameRules,
        compilePattern,
        retention,
        effective,
        about: () => ({
          version,
          startedAt,
          socks: uses.socksAddresses(),
          heartbeatIntervalMs: config.heartbeats.intervalMs,
          webhooksEnabled: config.webhooks.enabled,
          maxImportBytes: config.admin.maxImportBytes,
        }),
      },
      health: {
        async ready() {
          if (isStopping) throw new Error('the daemon is stopping');
          await store.ping();
        },
      },
      metrics: {
        measure: createMeasure({ version, core, sessions, happenings, now }),
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
    watch: happenings.watch,
    heartbeat: happenings.heartbeat,

    async reloadSetting(key) {
      bell.ring('settings');
      if (key === SECOND_FACTOR_KEY) await signIn.secondFactor.reload();
      await settings.reload(key);
    },

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
      await attempt('the log of logins', logins.flush);
      await attempt('sums of heartbeats', heartbeatSums.flush);
    },
  };
}
