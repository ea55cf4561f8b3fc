// Who may come in to the operator's desk: console sessions, API tokens, the second factor, wrong sign-ins.
import { randomUUID } from 'node:crypto';
import type { Config } from '../../config.js';
import type { Log } from '../../core/log.js';
import { type ApiTokens, createApiTokens } from '../../core/operator/api-tokens.js';
import { type ConsoleSessions, createConsoleSessions } from '../../core/operator/console-sessions.js';
import { createFailureLimit, type FailureLimit } from '../../core/operator/failure-limit.js';
import { createSecondFactor, type SecondFactor } from '../../core/operator/second-factor.js';
import type { Store } from '../../core/ports.js';

export interface SignIn {
  readonly consoleSessions: ConsoleSessions;
  readonly apiTokens: ApiTokens;
  readonly secondFactor: SecondFactor;
  readonly signInFailures: FailureLimit;
}

/** Sources whose wrong sign-ins are remembered. */
const MAX_FAILURE_SOURCES = 10_000;

/** Rejects when the database cannot be read. */
export async function openSignIn(uses: {
  readonly config: Config;
  readonly store: Pick<Store, 'consoleSessions' | 'apiTokens' | 'settings'>;
  readonly log: Log;
  readonly now: () => number;
}): Promise<SignIn> {
  const { store, log, now } = uses;
  const { session, maxTokens } = uses.config.admin;
  const onError = (err: unknown): void => log.warn({ err }, 'use of a session or token not noted');
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
  return { consoleSessions, apiTokens, secondFactor, signInFailures };
}
