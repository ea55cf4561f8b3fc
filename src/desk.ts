// The wiring of the operator's desk: what the console and /api/v1 need beside accounts, settings and agents.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { AdminServerUses } from './admin/server.js';
import type { AboutDaemon } from './admin/v1/session.js';
import type { Config } from './config.js';
import type { AccountLimitsService } from './core/account-limits.js';
import { type ApiTokens, createApiTokens } from './core/api-tokens.js';
import { type ConsoleSessions, createConsoleSessions } from './core/console-sessions.js';
import { createFailureLimit } from './core/failure-limit.js';
import type { Log } from './core/log.js';
import type { Store } from './core/ports.js';
import { createSecondFactor, SECOND_FACTOR_KEY } from './core/second-factor.js';
import { readVersion } from './version.js';

export interface DeskUses {
  readonly config: Config;
  readonly core: { readonly store: Store };
  readonly limits: AccountLimitsService;
  readonly log: Log;
  /** Known once the listeners are up. */
  readonly socksAddresses: () => readonly string[];
  readonly now: () => number;
}

export interface Desk {
  /** What the management plane needs of it. */
  readonly admin: Pick<AdminServerUses, 'operator' | 'consoleFolder'>;
  /** Takes in a setting that another process changed. */
  reloadSetting(key: string): Promise<void>;
  close(): Promise<void>;
}

/** Where the console is built into, seen from dist/src. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../console', import.meta.url));

/** Sources whose wrong sign-ins are remembered. */
const MAX_FAILURE_SOURCES = 10_000;

/** Loads what is kept of it. Rejects when the database cannot be read. */
export async function openDesk(uses: DeskUses): Promise<Desk> {
  const { config, log, now } = uses;
  const { store } = uses.core;
  const { session, maxTokens } = config.admin;
  const startedAt = now();
  const version = readVersion();
  const onError = (err: unknown): void => log.warn({ err }, 'use of a session or token not noted');
  const consoleSessions: ConsoleSessions = createConsoleSessions({
    store: store.consoleSessions,
    now,
    idleMs: session.idleTimeoutMs,
    maxAgeMs: session.maxAgeMs,
    maxSessions: session.max,
    onError,
  });
  const apiTokens: ApiTokens = createApiTokens({
    store: store.apiTokens,
    now,
    newId: randomUUID,
    maxTokens,
    onError,
  });
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
        limits: uses.limits,
        about,
      },
      consoleFolder: CONSOLE_FOLDER,
    },
    async reloadSetting(key) {
      if (key === SECOND_FACTOR_KEY) await secondFactor.reload();
    },
    async close() {},
  };
}
