// /api/v1: signing in and out of the console, the second factor, and who I am.

import type { Actor } from '../../core/audit/audit.js';
import type { AdminCredentials } from '../../core/auth/admin-credentials.js';
import type { ConsoleSessions } from '../../core/auth/console-sessions.js';
import type { RecoveryCodes } from '../../core/auth/recovery-codes.js';
import type { SecondFactor } from '../../core/auth/second-factor.js';
import type { Log } from '../../core/log.js';
import { printable } from '../../core/printable.js';
import { TOO_MANY_ATTEMPTS } from '../answer.js';
import { actorOf, type Caller, sessionOf } from '../caller.js';
import { isSecure } from '../client.js';
import type { AdminAttempts } from '../guards/attempts.js';
import { SESSION_COOKIE } from '../guards/authenticate.js';
import type { sessionRoutes } from './contract/session.js';
import { linkAddressFor, type PublicAddressUses } from './public-address.js';
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
  readonly egressClasses: readonly string[];
}

export interface SessionUses extends Pick<PublicAddressUses, 'publicAddress' | 'socks'> {
  readonly credentials: Pick<AdminCredentials, 'verify' | 'username' | 'givenBy'>;
  readonly consoleSessions: ConsoleSessions;
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
  readonly about: () => AboutDaemon;
  readonly countAccounts: () => number;
  readonly now: () => number;
}

export function sessionHandlers(
  uses: SessionUses & { readonly attempts: AdminAttempts; readonly log: Pick<Log, 'warn' | 'info'> },
): Handlers<(typeof sessionRoutes)[number]> {
  const { credentials, consoleSessions, secondFactor, recoveryCodes, attempts, log } = uses;

  async function me(caller: Caller, hostname: string): Promise<Record<string, unknown>> {
    const about = uses.about();
    const { password: givenBy } = await credentials.givenBy();
    return {
      username: caller.name,
      via: caller.via,
      address: caller.address,
      scopes: caller.scopes,
      isPasswordGiven: givenBy !== undefined,
      totpEnabled: secondFactor.isEnabled(),
      recoveryCodesLeft: secondFactor.isEnabled() ? recoveryCodes.left() : 0,
      version: about.version,
      startedAt: new Date(about.startedAt).toISOString(),
      now: new Date(uses.now()).toISOString(),
      socks: about.socks,
      link: linkAddressFor(uses, hostname),
      accounts: uses.countAccounts(),
      heartbeatIntervalSeconds: about.heartbeatIntervalMs / 1000,
      webhooksEnabled: about.webhooksEnabled,
      maxImportBytes: about.maxImportBytes,
      egressClasses: about.egressClasses,
    };
  }

  async function refuseLate(address: string, username: string): Promise<ProblemAnswer> {
    log.warn({ client: address, username: printable(username) }, 'admin login failed');
    await attempts.delay(address);
    return { problem: 'wrong-credentials' };
  }

  /** With a code, or with a recovery code, which then is used up. */
  async function turnOff(code: string, by: Actor): ReturnType<SecondFactor['disable']> {
    if (isTotp(code)) return secondFactor.disable(code, by);
    if (!secondFactor.isEnabled()) return 'off-already';
    if (!(await recoveryCodes.use(code, by))) return 'wrong-code';
    return (await secondFactor.forget(by)) ? 'off' : 'off-already';
  }

  return {
    async signIn({ body: { username, password, code }, ctx }) {
      const { client } = ctx.state;
      if (attempts.isFull(client)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(client);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      if (!credentials.verify(username, password)) return refuseLate(client, username);
      if (secondFactor.isEnabled()) {
        if (code === undefined) {
          attempts.succeeded(client);
          return { problem: 'totp-required' };
        }
        const by = { name: username, via: 'console', address: client } as const;
        const isGood = isTotp(code) ? secondFactor.verify(code) : await recoveryCodes.use(code, by);
        if (!isGood) return refuseLate(client, username);
      }
      attempts.succeeded(client);
      const value = await consoleSessions.open(username, client);
      log.info({ client, username: printable(username) }, 'console sign-in');
      const caller: Caller = { via: 'console', name: username, scopes: null, address: client, key: null };
      return {
        status: 200,
        body: await me(caller, ctx.hostname),
        headers: { 'Set-Cookie': cookie(value, isSecure(ctx.req)) },
      };
    },

    async signOut({ caller, ctx }) {
      if (caller.via === 'console' && caller.key !== null) await consoleSessions.close(caller.key);
      return { status: 204, headers: { 'Set-Cookie': `${cookie('', isSecure(ctx.req))}; Max-Age=0` } };
    },

    getMe: async ({ caller, ctx }) => ({ status: 200, body: await me(caller, ctx.hostname) }),

    async enrolTotp() {
      const offered = secondFactor.enrol(credentials.username());
      return offered ? { status: 200, body: offered } : conflict('the second factor is on already');
    },

    async confirmTotp({ body, caller }) {
      switch (await secondFactor.confirm(body.code, actorOf(caller))) {
        case 'on':
          await recoveryCodes.forget(actorOf(caller));
          await consoleSessions.keepOnly(sessionOf(caller));
          return DONE;
        case 'wrong-code':
          return wrongCode();
        case 'not-enrolled':
          return conflict('there is no new secret to confirm');
        case 'on-already':
          return conflict('the second factor is on already');
      }
    },

    async renewRecoveryCodes({ caller }) {
      if (!secondFactor.isEnabled()) return conflict('the second factor is off');
      return { status: 200, body: { codes: await recoveryCodes.renew(actorOf(caller)) } };
    },

    async disableTotp({ body, caller }) {
      if (attempts.isFull(caller.address)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(caller.address);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      const outcome = await turnOff(body.code, actorOf(caller));
      if (outcome === 'wrong-code') {
        await attempts.delay(caller.address);
        return wrongCode();
      }
      attempts.succeeded(caller.address);
      if (outcome === 'off-already') return conflict('the second factor is off already');
      await consoleSessions.keepOnly(sessionOf(caller));
      return DONE;
    },
  };
}

const isTotp = (code: string): boolean => /^\d{6}$/.test(code);

const DONE: Answered = { status: 204 };
const conflict = (detail: string): ProblemAnswer => ({ problem: 'conflict', detail });
const wrongCode = (): ProblemAnswer => ({
  problem: 'validation',
  errors: [{ path: 'body.code', message: 'not the code of this moment' }],
});

function cookie(value: string, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
