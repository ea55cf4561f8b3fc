// The bearer token of /hooks: read from one header, compared in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';

/** Checks whether the Authorization headers of a request carry one of the secrets. */
export interface TokenCheck {
  isRight(authorization: readonly string[]): boolean;
  /** Takes new secrets, from the next request on. None lets nobody in. */
  replace(secrets: readonly string[]): void;
}

export function createTokenCheck(secrets: readonly string[]): TokenCheck {
  let digests = secrets.map(digest);
  return {
    isRight(authorization) {
      // Reject duplicates: ambiguous which value applies.
      const token = authorization.length === 1 ? bearerToken(authorization[0] ?? '') : null;
      // Digests have equal length, so timing reveals nothing of the secret's length; all secrets are compared.
      const given = digest(token ?? Buffer.alloc(0));
      return digests.map((known) => timingSafeEqual(known, given)).includes(true) && token !== null;
    },
    replace(next) {
      digests = next.map(digest);
    },
  };
}

function digest(text: string | Uint8Array): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token of `Bearer <token>` (RFC 6750 §2.1), as the bytes on the wire; the scheme in any case (RFC 9110 §11.1). */
function bearerToken(header: string): Buffer | null {
  const [, token] = /^bearer +([^ ].*)$/i.exec(header) ?? [];
  // node reads header bytes as Latin-1; a secret outside ASCII is UTF-8 on both sides.
  return token === undefined ? null : Buffer.from(token, 'latin1');
}

// The names under which tokens are put into addresses, where every proxy and log would keep them.
const TOKEN_NAMES = new Set([
  'token',
  'access_token',
  'secret',
  'bearer',
  'authorization',
  'api_key',
  'apikey',
]);

/** Whether a query carries a token. It is never looked at. */
export function hasQueryToken(query: string): boolean {
  return (
    query !== '' && [...new URLSearchParams(query).keys()].some((name) => TOKEN_NAMES.has(name.toLowerCase()))
  );
}
