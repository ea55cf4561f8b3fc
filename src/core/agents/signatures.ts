// Verifies signatures of webhook senders that cannot send a bearer token: GitHub, Stripe, Standard Webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto';

export const SIGNATURE_SCHEMES = ['github', 'stripe', 'standard'] as const;
type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

export const STANDARD_SECRET = /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/;
export const STANDARD_FORM = 'whsec_ and base64 of at least 12 bytes';

export const isSenderSecret = (scheme: SignatureScheme, secret: string): boolean =>
  scheme !== 'standard' || STANDARD_SECRET.test(secret);

export interface SigningSender {
  readonly scheme: SignatureScheme;
  /** The current secret and, during a change, the previous one. With the scheme `standard`: `whsec_` and base64. */
  readonly secrets: readonly string[];
  /** The largest permitted difference between the signed time and the present. The scheme `github` signs no time. */
  readonly toleranceMs: number;
}

type Verified =
  /** `delivery`: the id that the signature covers; null where only the body is signed. */
  | { readonly ok: true; readonly delivery: string | null }
  /** The signature is missing or wrong. */
  | { readonly ok: false; readonly reason: 'unsigned' }
  /** The signature is correct, but its time differs from the present by `offMs`, which is too much. */
  | { readonly ok: false; readonly reason: 'stale'; readonly offMs: number };

type Header = (name: string) => readonly string[];

/** A sender signs with an old and a new secret. Further signatures are ignored. */
const MAX_SIGNATURES = 10;
const UNSIGNED: Verified = { ok: false, reason: 'unsigned' };

/**
 * Verifies the signature of a request. Compares every signature in constant time.
 * @param header every value of a header, by its lower-case name
 * @param now ms since the epoch
 */
export const verifySignature = (
  sender: SigningSender,
  header: Header,
  body: Uint8Array,
  now: number,
): Verified => VERIFIERS[sender.scheme](sender, header, body, now);

/** `X-Hub-Signature-256: sha256=<hex>` over the body. */
function verifyGithub({ secrets }: SigningSender, header: Header, body: Uint8Array): Verified {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(only(header('x-hub-signature-256'))) ?? [];
  const right = secrets.map((secret) => hmac(secret, body));
  const isRight = haveCommon(right, hex === undefined ? [] : [Buffer.from(hex, 'hex')]);
  return isRight ? { ok: true, delivery: null } : UNSIGNED;
}

/** `Stripe-Signature: t=<seconds>,v1=<hex>` over `<seconds>.<body>`; other versions are ignored. */
function verifyStripe(sender: SigningSender, header: Header, body: Uint8Array, now: number): Verified {
  const fields = only(header('stripe-signature')).split(',');
  const valuesOf = (name: string): string[] =>
    fields.filter((field) => field.startsWith(`${name}=`)).map((field) => field.slice(name.length + 1));
  const [time = '', ...otherTimes] = valuesOf('t');
  const given = valuesOf('v1').filter((hex) => /^[0-9a-f]{64}$/.test(hex));
  const right = sender.secrets.map((secret) => hmac(secret, `${time}.`, body));
  const isRight = haveCommon(
    right,
    given.map((hex) => Buffer.from(hex, 'hex')),
  );
  return isRight && otherTimes.length === 0 ? inTime(time, null, sender, now) : UNSIGNED;
}

/** `webhook-signature: v1,<base64> …` over `<webhook-id>.<webhook-timestamp>.<body>` (standardwebhooks.com). */
function verifyStandard(sender: SigningSender, header: Header, body: Uint8Array, now: number): Verified {
  const id = only(header('webhook-id'));
  const time = only(header('webhook-timestamp'));
  const given = only(header('webhook-signature'))
    .split(' ')
    .filter((signature) => /^v1,[A-Za-z0-9+/]{43}=$/.test(signature));
  const right = sender.secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return hmac(key, `${id}.${time}.`, body);
  });
  const isRight = haveCommon(
    right,
    given.map((signature) => Buffer.from(signature.slice(3), 'base64')),
  );
  return isRight && id !== '' && id.length <= 255 ? inTime(time, id, sender, now) : UNSIGNED;
}

const VERIFIERS = { github: verifyGithub, stripe: verifyStripe, standard: verifyStandard };

function inTime(
  time: string,
  delivery: string | null,
  { toleranceMs }: SigningSender,
  now: number,
): Verified {
  if (!/^\d{1,12}$/.test(time)) return UNSIGNED;
  const offMs = Math.abs(now - Number(time) * 1000);
  return offMs <= toleranceMs ? { ok: true, delivery } : { ok: false, reason: 'stale', offMs };
}

function hmac(key: string | Uint8Array, ...content: readonly (string | Uint8Array)[]): Buffer {
  const sum = createHmac('sha256', key);
  for (const part of content) sum.update(part);
  return sum.digest();
}

function haveCommon(right: readonly Buffer[], given: readonly Buffer[]): boolean {
  const compared = given
    .slice(0, MAX_SIGNATURES)
    .flatMap((each) => right.map((one) => each.length === one.length && timingSafeEqual(each, one)));
  return compared.includes(true);
}

/** Reject duplicates: ambiguous which value applies. */
const only = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : '');
