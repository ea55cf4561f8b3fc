// /api/v1/session/totp: the caller’s own second factor and its recovery codes; /api/v1/settings/admin-password: its password.
import { z } from 'zod';
import type { Actor } from '../../../core/audit/audit.js';
import { MIN_PASSWORD_CHARACTERS } from '../../../core/auth/people-passwords.js';
import type { Principal, Principals } from '../../../core/auth/principals.js';
import { TOO_MANY_ATTEMPTS } from '../../answer.js';
import { failure, invalid, type ProblemAnswer, type ReasonCode } from '../../api/problem.js';
import { type Answered, DONE, routesOf } from '../../api/route.js';
import { component, RevokeTokens } from '../../api/schemas.js';
import { actorOf, type Caller, keptSessionOf } from '../../caller.js';
import { type AdminAttempts, uncountUnchecked } from '../../guards/attempts.js';
import type { Services } from '../../services.js';

/** `123456`, or a recovery code such as `abcde-fghij`. */
export const TotpOrRecovery = z.string().regex(/^(\d{6}|[a-zA-Z2-7]{5}[- ]?[a-zA-Z2-7]{5})$/);

const TotpEnrolment = component('TotpEnrolment', {
  /** Base32, for manual entry. */
  secret: z.string(),
  /** `otpauth://totp/…`, for a QR code. */
  uri: z.string(),
});

const TotpCode = z.object({ code: z.string().regex(/^\d{6}$/) });

/** Shown once. */
const RecoveryCodes = component('RecoveryCodes', { codes: z.array(z.string()) });

const { route } = routesOf('Session');

export const secondFactorRoutes = [
  route('POST /api/v1/session/totp', 'enrolTotp', 'person', {
    summary: 'Makes a new secret for the second factor; it takes effect when a code confirms it.',
    needsConfirmation: true,
    success: [200, 'The secret, shown once.', TotpEnrolment],
    problems: [409],
    async handle({ caller }, deps) {
      const { secondFactor, name } = principalOf(deps, caller);
      const offered = await secondFactor.enrol(name);
      return offered ? { body: offered } : conflict('factor-on');
    },
  }),
  route('PUT /api/v1/session/totp', 'confirmTotp', 'person', {
    summary: 'Turns the second factor on with a code of the new secret, and makes ten recovery codes.',
    needsConfirmation: true,
    request: { body: TotpCode },
    success: [200, 'On; the recovery codes, shown once.', RecoveryCodes],
    problems: [409],
    async handle({ body, caller }, deps) {
      const { secondFactor, recoveryCodes, fingerprint } = principalOf(deps, caller);
      const keptSession = keptSessionOf(caller, fingerprint());
      const outcome = await secondFactor.confirm(body.code, actorOf(caller));
      if (outcome !== 'on') return NOT_CONFIRMED[outcome];
      const codes = await recoveryCodes.renew(actorOf(caller));
      await deps.knownSources.add(caller.operator?.id ?? null, caller.address);
      await deps.consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
      return { body: { codes } };
    },
  }),
  route('POST /api/v1/session/recovery-codes', 'renewRecoveryCodes', 'person', {
    summary:
      'Makes ten new recovery codes, each valid once in place of a code; the previous ones become invalid. Needs a current code or a recovery code.',
    request: { body: z.object({ code: TotpOrRecovery }) },
    success: [200, 'The codes, shown once.', RecoveryCodes],
    renews: true,
    problems: [409],
    handle: ({ body, caller }, deps) =>
      withCode(deps, caller, body.code, async ({ recoveryCodes }) => ({
        body: { codes: await recoveryCodes.renew(actorOf(caller)) },
      })),
  }),
  route('POST /api/v1/session/totp/disable', 'disableTotp', 'person', {
    summary: 'Turns the second factor off; needs a current code or a recovery code.',
    request: { body: z.object({ code: TotpOrRecovery }) },
    success: [204, 'Off.'],
    problems: [409],
    handle: ({ body, caller }, deps) =>
      withCode(deps, caller, body.code, async ({ secondFactor, fingerprint }) => {
        const keptSession = keptSessionOf(caller, fingerprint());
        if (!(await secondFactor.disable(actorOf(caller)))) return conflict('factor-off');
        await deps.consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
        return DONE;
      }),
  }),
];

/**
 * Makes a change of the caller's second factor, which a signed-in session alone may not make: it may be stolen. `code`, a current
 * code or a recovery code, counts as an attempt to log in, and is then used up.
 */
async function withCode<Answer extends Answered | ProblemAnswer>(
  deps: Services,
  caller: Caller,
  code: string,
  change: (principal: Principal) => Promise<Answer>,
): Promise<Answer | ProblemAnswer> {
  const principal = principalOf(deps, caller);
  if (!principal.secondFactor.isEnabled()) return conflict('factor-off');
  const refused = await proofProblem(deps.attempts, caller.address, () =>
    checkCode(deps, principal, code, actorOf(caller)),
  );
  return refused === 'wrong' ? wrongCode() : (refused ?? change(principal));
}

/**
 * Checks a password or code of a caller who is signed in: it counts as an attempt to log in, and a wrong one is answered as late. Returns
 * null when it is right.
 */
export async function proofProblem(
  attempts: AdminAttempts,
  client: string,
  check: () => Promise<boolean | ProblemAnswer>,
): Promise<ProblemAnswer | 'wrong' | null> {
  if (attempts.isFull(client)) return { problem: 'too-many-requests' };
  const retryAfterS = attempts.begin(client);
  if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
  const isRight = await uncountUnchecked(attempts, client, check());
  if (isRight === false) {
    await attempts.delay(client);
    return 'wrong';
  }
  attempts.succeeded(client);
  return isRight === true ? null : isRight;
}

/** Returns the calling administrator or operator. Authentication has already checked that it is enabled. */
export function principalOf(
  { principals }: { readonly principals: Pick<Principals, 'get'> },
  caller: Caller,
): Principal {
  const principal = principals.get(caller.operator?.id ?? null);
  if (!principal) throw new Error('the operator was disabled during the request');
  return principal;
}

/**
 * Whether `code` is a valid code of the second factor, or a valid recovery code; uses it up. Wrong six digits count per user, whatever
 * the source, but a source of a recent sign-in of the user is never refused for others. A recovery code cannot be guessed.
 */
export async function checkCode(
  { codeAttempts, knownSources }: Services,
  { name, operator, secondFactor, recoveryCodes }: Principal,
  code: string,
  by: Actor,
): Promise<boolean | ProblemAnswer> {
  const [id, address] = [operator?.id ?? null, by.address ?? ''];
  if (!/^\d{6}$/.test(code)) {
    if (!(await recoveryCodes.use(code, by))) return false;
  } else {
    const isKnown = await knownSources.has(id, address);
    const retryAfterS = isKnown ? null : codeAttempts.begin(name);
    if (retryAfterS !== null) return { ...failure('too-many-requests', 'too-many-codes'), retryAfterS };
    if (!(await secondFactor.verify(code))) return false;
    if (!isKnown) codeAttempts.succeeded(name);
  }
  await knownSources.add(id, address);
  return true;
}

const conflict = (code: ReasonCode): ProblemAnswer => failure('conflict', code);
export const wrongCode = (): ProblemAnswer => invalid('body.code', 'one-time-code');
const NOT_CONFIRMED = {
  'wrong-code': wrongCode(),
  'not-enrolled': conflict('no-new-secret'),
  'on-already': conflict('factor-on'),
} as const;

const PASSWORD_FAULTS = {
  'wrong-password': invalid('body.current', 'present-password'),
  'invalid-password': invalid('body.next', 'password'),
  'short-password': invalid('body.next', 'short-password', { min: MIN_PASSWORD_CHARACTERS }),
} as const;

export const adminPasswordRoutes = [
  routesOf('Settings').route('PUT /api/v1/settings/admin-password', 'setAdminPassword', 'person', {
    summary:
      'Changes the caller’s own password; the caller’s other console sessions end, and its tokens are revoked.',
    request: {
      body: component('AdminPasswordChange', {
        current: z.string().min(1).max(1_024),
        next: z.string().min(1).max(255),
        revokeTokens: RevokeTokens,
      }),
    },
    success: [204, 'Changed.'],
    problems: [409],
    async handle({ body: { current, next, revokeTokens }, caller }, deps) {
      const { credentials, consoleSessions, apiTokens, attempts, changes, log } = deps;
      const principal = principalOf(deps, caller);
      const refused = await proofProblem(attempts, caller.address, () => principal.verifyPassword(current));
      if (refused) return refused === 'wrong' ? PASSWORD_FAULTS['wrong-password'] : refused;
      const keptSession = keptSessionOf(caller, principal.fingerprint());
      const refusal = await principal.setPassword(current, next, actorOf(caller), revokeTokens);
      if (refusal) return PASSWORD_FAULTS[refusal];
      const { password: givenBy } = await credentials.givenBy();
      if (givenBy !== undefined && caller.operator === null)
        log.warn({ givenBy }, 'admin password will be overwritten at the next start');
      await consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
      await apiTokens.reload();
      changes.notify('tokens');
      return DONE;
    },
  }),
];
