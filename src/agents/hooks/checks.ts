// What every webhook endpoint checks before the body: the bearer token and the content type; and the form of its refusals.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HookAnswer, HookRequest } from '../../core/agents/webhooks.js';

/** Checks whether the Authorization headers of a request contain one of the secrets. */
export type TokenCheck = ReturnType<typeof createTokenCheck>;

export function createTokenCheck(secrets: readonly string[]) {
  let digests = secrets.map(digest);
  return {
    verify(authorization: readonly string[]): boolean {
      // Reject duplicates: ambiguous which value applies.
      const token = authorization.length === 1 ? bearerToken(authorization[0] ?? '') : null;
      // Digests have equal length, so the timing does not reveal a secret's length. Every secret is compared.
      const given = digest(token ?? Buffer.alloc(0));
      return digests.map((known) => timingSafeEqual(known, given)).includes(true) && token !== null;
    },
    /** Replaces the secrets, from the next request on. With no secret, every request is refused. */
    replace(next: readonly string[]): void {
      digests = next.map(digest);
    },
  };
}

const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns the token of `Bearer <token>` (RFC 6750 §2.1) as the bytes on the wire. The scheme is case-insensitive (RFC 9110 §11.1).
 */
function bearerToken(header: string): Buffer | null {
  const [, token] = /^bearer +([^ ].*)$/i.exec(header) ?? [];
  // Node decodes header bytes as Latin-1. A secret outside ASCII is UTF-8 on both sides.
  return token === undefined ? null : Buffer.from(token, 'latin1');
}

// Names of query parameters in which clients put tokens. Every proxy and log on the way would store such a token.
const TOKEN_NAMES = new Set([
  'token',
  'access_token',
  'secret',
  'bearer',
  'authorization',
  'api_key',
  'apikey',
]);

/** Returns whether a query contains a token. The token is never compared. */
export function hasQueryToken(query: string): boolean {
  return (
    query !== '' && [...new URLSearchParams(query).keys()].some((name) => TOKEN_NAMES.has(name.toLowerCase()))
  );
}

export const JSON_FAULTS = {
  'not-utf8': 'the body is not UTF-8',
  'not-json': 'the body is not JSON',
  'not-an-object': 'the body must be a JSON object',
  'duplicate-key': 'the body has a duplicate field',
  'too-deep': 'the body is nested too deeply',
} as const;

/** Returns why the body is not readable; null for plain JSON in UTF-8. */
export function mediaFault(request: HookRequest): string | null {
  const [type = '', ...more] = request.header('content-type');
  if (
    more.length > 0 ||
    !/^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?[ \t]*$/i.test(type)
  ) {
    return 'Content-Type must be application/json';
  }
  const isPlain = request.header('content-encoding').every((coding) => coding.toLowerCase() === 'identity');
  return isPlain ? null : 'a compressed body is not accepted';
}

export function refusal(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): HookAnswer {
  return { status, headers, body: { status: 'error', error } };
}
