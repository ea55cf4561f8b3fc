// /api/v1/session: console sign-in and sign-out, and the identity of the caller.
import { z } from 'zod';
import { ADMINISTRATOR, auditRecord } from '../../../core/audit/audit.js';
import { ROLES } from '../../../core/auth/operator.js';
import { printable } from '../../../core/text.js';
import { isoOrNull } from '../../../core/time/clock.js';
import { TOO_MANY_ATTEMPTS } from '../../answer.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { routesOf, Scope } from '../../api/route.js';
import { Bytes, Count, component, fault, Time } from '../../api/schemas.js';
import { accountsFor, actorOf, type Caller, callerOf } from '../../caller.js';
import { uncountUnchecked } from '../../guards/attempts.js';
import { SESSION_COOKIE } from '../../guards/authenticate.js';
import { isSecure } from '../../guards/client.js';
import type { Services } from '../../services.js';
import { LinkAddress, linkAddressFor } from '../settings/players.js';
import { Budget, BudgetUsed, presentUsed } from './operators.js';
import { checkCode, principalOf, proofProblem, TotpOrRecovery, wrongCode } from './second-factor.js';

const SignIn = component('SignIn', {
  username: z.string().min(1).max(255),
  password: z.string().min(1).max(1_024),
  /** Six digits or a recovery code. Required when the second factor is enabled. */
  code: TotpOrRecovery.optional(),
});

const Confirmation = z
  .object({
    password: z.string().min(1).max(1_024).optional(),
    /** Six digits or a recovery code, when the second factor is enabled. */
    code: TotpOrRecovery.optional(),
  })
  .refine(
    ({ password, code }) => (password === undefined) !== (code === undefined),
    fault('one-of', { allowed: 'password, code' }),
  )
  .meta({ id: 'Confirmation' });

const Confirmed = component('Confirmed', { confirmedUntil: Time.nullable() });

const Me = component('Me', {
  username: z.string(),
  via: z.enum(['console', 'basic', 'token']),
  /** The client address of this request, as the whitelist sees it. */
  address: z.string(),
  /** The role of the caller, or of the user who made the caller's token. */
  role: z.enum(['administrator', ...ROLES]),
  /** null: all scopes. */
  scopes: z.array(Scope).nullable(),
  /** The operations of this document, by `operationId`, that the caller may use. */
  operations: z.array(z.string()),
  totpEnabled: z.boolean(),
  /**
   * Whether the last start got the admin password from a variable, a file or a credential. The next start then sets it again,
   * even after a change. False for operators.
   */
  isPasswordGiven: z.boolean(),
  /**
   * Until when the console session is confirmed, for operations that need a confirmation; null: it is not, or the caller has no such
   * session.
   */
  confirmedUntil: Time.nullable(),
  /** Number of unused recovery codes. */
  recoveryCodesLeft: Count,
  version: z.string(),
  startedAt: Time,
  now: Time,
  /** The addresses for players: `host:port` of every SOCKS listener. */
  socks: z.array(z.string()),
  /** The address in players' links. */
  link: LinkAddress,
  accounts: Count,
  /** A seller's budget, and the used part of it; null: the caller is not a seller. */
  budget: z.object({ bounds: Budget, used: BudgetUsed }).nullable(),
  heartbeatIntervalSeconds: z.number(),
  webhooksEnabled: z.boolean(),
  maxImportBytes: Bytes,
  /** Most authorized addresses that the caller may give to an account; 0: none. */
  maxAuthorizedAddresses: Count,
  /** Names of the configured egress classes (`egress.classes`). */
  egressClasses: z.array(z.string()),
  /** Names of the exits that the caller's accounts may use. */
  exits: z.array(z.string()),
  /** The time zone of the accounts' schedules (`timeZone`). */
  timeZone: z.string(),
});

const { route } = routesOf('Session');

export const sessionRoutes = [
  route('POST /api/v1/session', 'signIn', 'public', {
    summary:
      'Signs in as the administrator or an operator, and sets the session cookie (HttpOnly, SameSite=Strict).',
    request: { body: SignIn },
    success: [200, 'Signed in.', Me],
    problems: [401, 429],
    async handle({ body: { username, password, code }, ctx }, deps) {
      const { attempts, principals, consoleSessions, knownSources, audit, log } = deps;
      const { client } = ctx.state;
      if (attempts.isFull(client)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(client);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      const principal = await uncountUnchecked(attempts, client, principals.verify(username, password));
      if (!principal) return wrongLoginProblem(deps, client, username);
      const { operator, secondFactor } = principal;
      const credentials = principal.fingerprint();
      const isNewAddress = !(await knownSources.has(operator?.id ?? null, client));
      const by = { name: username, via: 'console', address: client, operatorId: operator?.id } as const;
      if (secondFactor.isEnabled()) {
        if (code === undefined) {
          attempts.succeeded(client);
          return { problem: 'totp-required' };
        }
        const isGood = await checkCode(deps, principal, code, by);
        if (isGood === false) return wrongLoginProblem(deps, client, username);
        if (isGood !== true) {
          attempts.succeeded(client);
          return isGood;
        }
      }
      attempts.succeeded(client);
      const value = await consoleSessions.open(username, operator, client, credentials);
      if (value === null) return { problem: 'wrong-credentials' };
      await knownSources.add(operator?.id ?? null, client);
      const object = operator
        ? ({ type: 'operator', id: operator.id, name: operator.name } as const)
        : ADMINISTRATOR;
      if (isNewAddress) await audit.add([auditRecord(by, 'operator.new-address', object)]);
      log.info({ client, username: printable(username) }, 'console sign-in');
      const caller = callerOf(operator, null, { via: 'console', name: username, address: client, key: null });
      return {
        body: await me(deps, caller, ctx.hostname),
        headers: { 'Set-Cookie': cookie(value, isSecure(ctx.req)) },
      };
    },
  }),
  route('POST /api/v1/session/confirm', 'confirmSession', 'person', {
    summary:
      'Confirms the console session with the password or a one-time code, for operations that need it. Counts as an attempt to log in.',
    request: { body: Confirmation },
    success: [200, 'Confirmed.', Confirmed],
    problems: [429],
    async handle({ body: { password, code }, caller }, deps) {
      const principal = principalOf(deps, caller);
      const refused = await proofProblem(deps.attempts, caller.address, async () => {
        if (password !== undefined) return principal.verifyPassword(password);
        return principal.secondFactor.isEnabled() && checkCode(deps, principal, code ?? '', actorOf(caller));
      });
      if (refused === 'wrong')
        return password === undefined ? wrongCode() : invalid('body.password', 'present-password');
      if (refused) return refused;
      const isConsole = caller.via === 'console' && caller.key !== null;
      const until = isConsole ? await deps.consoleSessions.confirm(caller.key) : null;
      return { body: { confirmedUntil: isoOrNull(until) } };
    },
  }),
  route('DELETE /api/v1/session', 'signOut', 'any', {
    summary: 'Ends the console session and clears its cookie.',
    success: [204, 'Signed out.'],
    async handle({ caller, ctx }, { consoleSessions }) {
      if (caller.via === 'console' && caller.key !== null) await consoleSessions.close(caller.key);
      return { headers: { 'Set-Cookie': `${cookie('', isSecure(ctx.req))}; Max-Age=0` } };
    },
  }),
  route('GET /api/v1/me', 'getMe', 'any', {
    summary: 'The caller with its rights, and facts about this daemon.',
    success: [200, 'The caller.', Me],
    handle: async ({ caller, ctx }, deps) => ({ body: await me(deps, caller, ctx.hostname) }),
  }),
];

async function me(deps: Services, caller: Caller, hostname: string): Promise<Record<string, unknown>> {
  const { secondFactor, recoveryCodes } = principalOf(deps, caller);
  const accounts = accountsFor(deps.accounts, caller);
  const { password: givenBy } = caller.operator ? {} : await deps.credentials.givenBy();
  return {
    username: caller.name,
    via: caller.via,
    address: caller.address,
    role: caller.operator?.role ?? 'administrator',
    scopes: caller.scopes,
    operations: deps.operationsOf(caller),
    isPasswordGiven: givenBy !== undefined,
    totpEnabled: secondFactor.isEnabled(),
    confirmedUntil: isoOrNull(
      caller.via === 'console' ? deps.consoleSessions.confirmedUntil(caller.key ?? '') : null,
    ),
    recoveryCodesLeft: secondFactor.isEnabled() ? recoveryCodes.left() : 0,
    ...deps.about,
    now: new Date(deps.now()).toISOString(),
    socks: deps.socks(),
    link: linkAddressFor(deps, hostname),
    accounts: accounts.count(),
    budget: await budgetOf(deps, caller),
    heartbeatIntervalSeconds: deps.heartbeatIntervalMs / 1000,
    maxImportBytes: deps.maxImportBytes,
    maxAuthorizedAddresses: accounts.maxAuthorizedAddresses,
    exits: deps.exits.list().flatMap(({ name }) => (accounts.hasExit(name) ? name : [])),
    timeZone: deps.timeZone,
  };
}

/** Reads the database: accounts at this and other daemons use the budget. */
async function budgetOf({ operators }: Services, { operator }: Caller) {
  if (operator?.role !== 'seller') return null;
  await operators.reload();
  const now = operators.get(operator.id);
  return now && { bounds: now.budget, used: presentUsed(now.used) };
}

async function wrongLoginProblem(
  { attempts, log }: Services,
  address: string,
  username: string,
): Promise<ProblemAnswer> {
  // Others of the source may have been refused during the check.
  if (attempts.isFull(address)) return { problem: 'too-many-requests' };
  log.warn({ client: address, username: printable(username) }, 'admin login failed');
  await attempts.delay(address);
  return { problem: 'wrong-credentials' };
}

const cookie = (value: string, isSecure: boolean): string =>
  `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
