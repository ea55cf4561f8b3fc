// Parses the Authorization header of the admin API strictly: a malformed header counts as missing.

export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

// RFC 9110 §11.4: the scheme in any case, then one or more spaces, then the credentials.
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses `Basic <base64(username:password)>` (RFC 7617 §2, charset UTF-8). The first colon separates the two, so a password may
 * contain colons; either part may be empty. Returns null for a missing header, another scheme, non-canonical base64 (RFC 4648 §4,
 * padding included), invalid UTF-8, or no colon.
 */
export function parseBasic(header: string | undefined): BasicCredentials | null {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  // Node ignores malformed base64. Only canonical text encodes back to itself.
  if (bytes.toString('base64') !== encoded) return null;
  const text = decode(bytes);
  const colon = text?.indexOf(':') ?? -1;
  if (text === null || colon === -1) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decode(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
