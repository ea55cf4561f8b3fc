// Signing in and out of the console, the second factor, and who I am.
import { z } from 'zod';
import { Bytes, Count, route, Scope, Time } from './common.js';
import { LinkAddress } from './settings.js';

/** `123456`, or `abcde-fghij` of the recovery codes. */
const TotpOrRecovery = z.string().regex(/^(\d{6}|[a-zA-Z2-7]{5}[- ]?[a-zA-Z2-7]{5})$/);

export const SignIn = z
  .object({
    username: z.string().min(1).max(255),
    password: z.string().min(1).max(1_024),
    /** Six digits or a recovery code; needed when the second factor is on. */
    code: TotpOrRecovery.optional(),
  })
  .meta({ id: 'SignIn' });

export const Me = z
  .object({
    username: z.string(),
    via: z.enum(['console', 'basic', 'token']),
    /** The address this request came from, as the whitelist sees it. */
    address: z.string(),
    /** null: everything. */
    scopes: z.array(Scope).nullable(),
    totpEnabled: z.boolean(),
    /**
     * Whether the last start was given the admin password, by a variable, a file or a credential: the next start sets it
     * again, whatever it was changed to.
     */
    isPasswordGiven: z.boolean(),
    /** Recovery codes that were not used yet. */
    recoveryCodesLeft: Count,
    version: z.string(),
    startedAt: Time,
    now: Time,
    /** Where players connect: `host:port` of every SOCKS listener. */
    socks: z.array(z.string()),
    /** Where links lead. */
    link: LinkAddress,
    accounts: Count,
    heartbeatIntervalSeconds: z.number(),
    webhooksEnabled: z.boolean(),
    maxImportBytes: Bytes,
    /** Names of the egress classes that the configuration has (`egress.classes`). */
    egressClasses: z.array(z.string()),
  })
  .meta({ id: 'Me' });

export const TotpEnrolment = z
  .object({
    /** Base32, for typing in. */
    secret: z.string(),
    /** `otpauth://totp/…`, for a QR code. */
    uri: z.string(),
  })
  .meta({ id: 'TotpEnrolment' });

const TotpCode = z.object({ code: z.string().regex(/^\d{6}$/) });

/** Shown once. */
export const RecoveryCodes = z.object({ codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' });

const tag = 'Session';
export const sessionRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/session',
    operationId: 'signIn',
    summary: 'Signs in with the admin credentials and sets the session cookie (HttpOnly, SameSite=Strict).',
    tag,
    access: 'public',
    request: { body: SignIn },
    responses: { 200: { description: 'Signed in.', schema: Me } },
    problems: [401, 429],
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/session',
    operationId: 'signOut',
    summary: 'Ends the console session and clears its cookie.',
    tag,
    access: 'any',
    request: {},
    responses: { 204: { description: 'Signed out.' } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/me',
    operationId: 'getMe',
    summary: 'Who is signed in, from where, and what this daemon is.',
    tag,
    access: 'any',
    request: {},
    responses: { 200: { description: 'Who I am.', schema: Me } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/session/totp',
    operationId: 'enrolTotp',
    summary: 'Makes a new secret for the second factor; it counts once confirmed with a code.',
    tag,
    access: 'operator',
    request: {},
    responses: { 200: { description: 'The secret, shown once.', schema: TotpEnrolment } },
    problems: [409],
  }),
  route({
    method: 'PUT',
    path: '/api/v1/session/totp',
    operationId: 'confirmTotp',
    summary: 'Turns the second factor on with a code of the new secret.',
    tag,
    access: 'operator',
    request: { body: TotpCode },
    responses: { 204: { description: 'On.' } },
    problems: [409],
  }),
  route({
    method: 'POST',
    path: '/api/v1/session/recovery-codes',
    operationId: 'renewRecoveryCodes',
    summary: 'Makes ten new recovery codes, each good once in place of a code; those before count no more.',
    tag,
    access: 'operator',
    request: {},
    responses: { 200: { description: 'The codes, shown once.', schema: RecoveryCodes } },
    problems: [409],
  }),
  route({
    method: 'POST',
    path: '/api/v1/session/totp/disable',
    operationId: 'disableTotp',
    summary: 'Turns the second factor off; needs a current code or a recovery code.',
    tag,
    access: 'operator',
    request: { body: z.object({ code: TotpOrRecovery }) },
    responses: { 204: { description: 'Off.' } },
    problems: [409],
  }),
];
