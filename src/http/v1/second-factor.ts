// /api/v1/session/totp: the caller's own second factor and its recovery codes.
import { z } from 'zod';
import type { Actor } from '../../core/audit/audit.js';
import type { ConsoleSessions } from '../../core/auth/console-sessions.js';
import type { Principal, Principals } from '../../core/auth/principals.js';
import type { SecondFactor } from '../../core/auth/second-factor.js';
import { TOO_MANY_ATTEMPTS } from '../answer.js';
import { actorOf, type Caller, keptSessionOf } from '../caller.js';
import type { AdminAttempts } from '../guards/attempts.js';
import { invalid, type ProblemAnswer } from './problem.js';
import { because, type ReasonCode } from './problem-reasons.js';
import { type Answered, routesOf } from './route.js';

/** `123456`, or a recovery code such as `abcde-fghij`. */
export const TotpOrRecovery = z.string().regex(/^(\d{6}|[a-zA-Z2-7]{5}[- ]?[a-zA-Z2-7]{5})$/);

const TotpEnrolment = z
  .object({
    /** Base32, for manual entry. */
    secret: z.string(),
    /** `otpauth://totp/…`, for a QR code. */
    uri: z.string(),
  })
  .meta({ id: 'TotpEnrolment' });

const TotpCode = z.object({ code: z.string().regex(/^\d{6}$/) });

/** Shown once. */
const RecoveryCodes = z.object({ codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' });

export interface SecondFactorDeps {
  readonly principals: Pick<Principals, 'get'>;
  readonly consoleSessions: Pick<ConsoleSessions, 'keepOnly'>;
  readonly attempts: AdminAttempts;
}

const { route } = routesOf<SecondFactorDeps>('Session');

export const secondFactorRoutes = [
  route(
    {
      method: 'POST',
      path: '/api/v1/session/totp',
      operationId: 'enrolTotp',
      summary: 'Makes a new secret for the second factor; it takes effect when a code confirms it.',
      access: 'person',
      request: {},
      responses: { 200: { description: 'The secret, shown once.', schema: TotpEnrolment } },
      problems: [409],
    },
    async ({ caller }, deps) => {
      const { secondFactor, name } = principalOf(deps, caller);
      const offered = await secondFactor.enrol(name);
      return offered ? { status: 200, body: offered } : conflict('factor-on');
    },
  ),
  route(
    {
      method: 'PUT',
      path: '/api/v1/session/totp',
      operationId: 'confirmTotp',
      summary: 'Turns the second factor on with a code of the new secret.',
      access: 'person',
      request: { body: TotpCode },
      responses: { 204: { description: 'On.' } },
      problems: [409],
    },
    async ({ body, caller }, deps) => {
      const { secondFactor, recoveryCodes, fingerprint } = principalOf(deps, caller);
      const keptSession = keptSessionOf(caller, fingerprint());
      switch (await secondFactor.confirm(body.code, actorOf(caller))) {
        case 'on':
          await recoveryCodes.forget(actorOf(caller));
          await deps.consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
          return DONE;
        case 'wrong-code':
          return wrongCode();
        case 'not-enrolled':
          return conflict('no-new-secret');
        case 'on-already':
          return conflict('factor-on');
      }
    },
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/session/recovery-codes',
      operationId: 'renewRecoveryCodes',
      summary:
        'Makes ten new recovery codes, each valid once in place of a code; the previous ones become invalid.',
      access: 'person',
      request: {},
      responses: { 200: { description: 'The codes, shown once.', schema: RecoveryCodes } },
      problems: [409],
    },
    async ({ caller }, deps) => {
      const { secondFactor, recoveryCodes } = principalOf(deps, caller);
      if (!secondFactor.isEnabled()) return conflict('factor-not-on');
      return { status: 200, body: { codes: await recoveryCodes.renew(actorOf(caller)) } };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/session/totp/disable',
      operationId: 'disableTotp',
      summary: 'Turns the second factor off; needs a current code or a recovery code.',
      access: 'person',
      request: { body: z.object({ code: TotpOrRecovery }) },
      responses: { 204: { description: 'Off.' } },
      problems: [409],
    },
    async ({ body, caller }, deps) => {
      const { attempts, consoleSessions } = deps;
      if (attempts.isFull(caller.address)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(caller.address);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      const principal = principalOf(deps, caller);
      const keptSession = keptSessionOf(caller, principal.fingerprint());
      const outcome = await turnOff(principal, body.code, actorOf(caller));
      if (outcome === 'wrong-code') {
        await attempts.delay(caller.address);
        return wrongCode();
      }
      attempts.succeeded(caller.address);
      if (outcome === 'off-already') return conflict('factor-off');
      await consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
      return DONE;
    },
  ),
];

/** Returns the calling administrator or operator. Authentication has already checked that it is enabled. */
export function principalOf(
  { principals }: { readonly principals: Pick<Principals, 'get'> },
  caller: Caller,
): Principal {
  const principal = principals.get(caller.operator?.id ?? null);
  if (!principal) throw new Error('the operator was disabled during the request');
  return principal;
}

/** Disables the second factor with a code or with a recovery code, which is then used up. */
async function turnOff(
  { secondFactor, recoveryCodes }: Principal,
  code: string,
  by: Actor,
): ReturnType<SecondFactor['disable']> {
  if (isTotp(code)) return secondFactor.disable(code, by);
  if (!secondFactor.isEnabled()) return 'off-already';
  if (!(await recoveryCodes.use(code, by))) return 'wrong-code';
  return (await secondFactor.forget(by)) ? 'off' : 'off-already';
}

export const isTotp = (code: string): boolean => /^\d{6}$/.test(code);

const DONE: Answered = { status: 204 };
const conflict = (code: ReasonCode): ProblemAnswer => ({ problem: 'conflict', ...because(code) });
const wrongCode = (): ProblemAnswer => invalid('body.code', 'one-time-code');
