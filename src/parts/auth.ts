// Authentication for the admin API: console sessions, API tokens, second factor.
import { randomUUID } from 'node:crypto';
import type { Config } from '../config.js';
import { ADMIN_CREDENTIALS_KEY } from '../core/auth/admin-credentials.js';
import { type ApiTokens, createApiTokens } from '../core/auth/api-tokens.js';
import { type ConsoleSessions, createConsoleSessions } from '../core/auth/console-sessions.js';
import { fingerprintOf } from '../core/auth/fingerprint.js';
import { createRecoveryCodes, type RecoveryCodes } from '../core/auth/recovery-codes.js';
import { createSecondFactor, SECOND_FACTOR_KEY, type SecondFactor } from '../core/auth/second-factor.js';
import type { Log } from '../core/log.js';
import type { Core } from './core.js';

export interface Auth {
  readonly consoleSessions: ConsoleSessions;
  readonly apiTokens: ApiTokens;
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
}

/** Rejects when the database cannot be read. */
export async function openAuth(uses: {
  readonly config: Config;
  readonly core: Pick<Core, 'store' | 'settings' | 'credentials'>;
  readonly log: Log;
  readonly now: () => number;
}): Promise<Auth> {
  const { log, now } = uses;
  const { store, settings, credentials } = uses.core;
  const { session, maxTokens } = uses.config.admin;
  const onError = (err: unknown): void =>
    log.warn({ err }, 'saving the last use of a session or token failed');
  const secondFactor = await settings.open(createSecondFactor({ settings: store.settings, now }));
  const sessions = createConsoleSessions({
    store: store.consoleSessions,
    now,
    credentials: () => fingerprintOf(`${credentials.fingerprint()} ${secondFactor.fingerprint()}`),
    idleMs: session.idleTimeoutMs,
    maxAgeMs: session.maxAgeMs,
    maxSessions: session.max,
    onError,
  });
  const recoveryCodes = await settings.open(createRecoveryCodes(store.settings));
  const apiTokens = await settings.open(
    createApiTokens({ store: store.apiTokens, now, newId: randomUUID, maxTokens, onError }),
  );
  const consoleSessions = await settings.open(sessions);
  settings.onReloaded((key) => {
    if (key !== SECOND_FACTOR_KEY && key !== ADMIN_CREDENTIALS_KEY) return;
    const ended = consoleSessions.sweep();
    if (ended > 0) log.info({ sessions: ended }, 'console sessions ended: credentials changed');
  });
  return { consoleSessions, apiTokens, secondFactor, recoveryCodes };
}
