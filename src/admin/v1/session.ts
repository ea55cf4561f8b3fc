// /api/v1: signing in and out of the console, the second factor, and who I am.

import type { Log } from '../../core/log.js';
import type { AdminCredentials } from '../../core/operator/admin-credentials.js';
import type { ConsoleSessions } from '../../core/operator/console-sessions.js';
import type { FailureLimit } from '../../core/operator/failure-limit.js';
import type { SecondFactor } from '../../core/operator/second-factor.js';
import { printable } from '../../core/printable.js';
import { actorOf, type Caller } from '../caller.js';
import { isSecure } from '../client.js';
import { SESSION_COOKIE } from '../guards/authenticate.js';
import type { LoginDelay } from '../guards/login-delay.js';
import type { sessionRoutes } from './contract/session.js';
import type { Answered, Handlers, ProblemAnswer } from './serve.js';

/** What the daemon tells of itself to whoever is signed in. */
export interface AboutDaemon {
  readonly version: string;
  readonly startedAt: number;
  /** `host:port` of every SOCKS listener. */
  readonly socks: readonly string[];
  readonly heartbeatIntervalMs: number;
  readonly webhooksEnabled: boolean;
  readonly maxImportBytes: number;
}

export interface SessionUses {
  readonly credentials: Pick<AdminCredentials, 'verify' | 'username'>;
  readonly consoleSessions: ConsoleSessions;
  readonly secondFactor: SecondFactor;
  /** Wrong sign-ins of a source. */
  readonly failures: FailureLimit;
  readonly about: () => AboutDaemon;
  readonly countAccounts: () => number;
  readonly now: () => number;
}

export function sessionHandlers(
  uses: SessionUses & { readonly delay: LoginDelay; readonly log: Pick<Log, 'warn' | 'info'> },
): Handlers<(typeof sessionRoutes)[number]> {
  const { credentials, consoleSessions, secondFactor, failures, delay, log } = uses;

  function me(caller: Caller): Record<string, unknown> {
    const about = uses.about();
    return {
      username: caller.name,
      via: caller.via,
      address: caller.address,
      scopes: caller.scopes,
      totpEnabled: secondFactor.isEnabled(),
      version: about.version,
      startedAt: new Date(about.startedAt).toISOString(),
      now: new Date(uses.now()).toISOString(),
      socks: about.socks,
      accounts: uses.countAccounts(),
      heartbeatIntervalSeconds: about.heartbeatIntervalMs / 1000,
      webhooksEnabled: about.webhooksEnabled,
      maxImportBytes: about.maxImportBytes,
    };
  }

  async function refuseLate(address: string, username: string): Promise<ProblemAnswer> {
    log.warn({ client: address, username: printable(username) }, 'admin login failed');
    await delay.wait(address);
    return { problem: 'wrong-credentials' };
  }

  return {
    async signIn({ body: { username, password, code }, ctx }) {
      const { client } = ctx.state;
      if (delay.isFull(client)) return { problem: 'too-many-requests' };
      const waitMs = failures.attempt(client);
      if (waitMs !== null) {
        return {
          problem: 'too-many-requests',
          detail: 'too many wrong sign-ins from this address',
          retryAfterS: Math.ceil(waitMs / 1000),
        };
      }
      if (!credentials.verify(username, password)) return refuseLate(client, username);
      if (secondFactor.isEnabled()) {
        if (code === undefined) {
          failures.undo(client);
          return { problem: 'totp-required' };
        }
        if (!secondFactor.verify(code)) return refuseLate(client, username);
      }
      failures.undo(client);
      const value = await consoleSessions.open(username, client);
      log.info({ client, username: printable(username) }, 'console sign-in');
      const caller: Caller = { via: 'console', name: username, scopes: null, address: client, key: null };
      return {
        status: 200,
        body: me(caller),
        headers: { 'Set-Cookie': cookie(value, isSecure(ctx.req)) },
      };
    },

    async signOut({ caller, ctx }) {
      if (caller.via === 'console' && caller.key !== null) await consoleSessions.close(caller.key);
      return { status: 204, headers: { 'Set-Cookie': `${cookie('', isSecure(ctx.req))}; Max-Age=0` } };
    },

    getMe: async ({ caller }) => ({ status: 200, body: me(caller) }),

    async enrolTotp() {
      const offered = secondFactor.enrol(credentials.username());
      return offered ? { status: 200, body: offered } : conflict('the second factor is on already');
    },

    async confirmTotp({ body, caller }) {
      switch (await secondFactor.confirm(body.code, actorOf(caller))) {
        case 'on':
          return DONE;
        case 'wrong-code':
          return wrongCode();
        case 'not-enrolled':
          return conflict('there is no new secret to confirm');
        case 'on-already':
          return conflict('the second factor is on already');
      }
    },

    async disableTotp({ body, caller }) {
      const waitMs = failures.attempt(caller.address);
      if (waitMs !== null) return { problem: 'too-many-requests', retryAfterS: Math.ceil(waitMs / 1000) };
      const outcome = await secondFactor.disable(body.code, actorOf(caller));
      if (outcome === 'wrong-code') return wrongCode();
      failures.undo(caller.address);
      return outcome === 'off' ? DONE : conflict('the second factor is off already');
    },
  };
}

const DONE: Answered = { status: 204 };
const conflict = (detail: string): ProblemAnswer => ({ problem: 'conflict', detail });
const wrongCode = (): ProblemAnswer => ({
  problem: 'validation',
  errors: [{ path: 'body.code', message: 'not the code of this moment' }],
});

function cookie(value: string, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
