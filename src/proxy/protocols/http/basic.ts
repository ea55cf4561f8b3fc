// Basic credentials in Proxy-Authorization, RFC 7617 and RFC 9110 §11.7.2.

export interface BasicCredentials {
  readonly username: Uint8Array;
  readonly password: Uint8Array;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const COLON = 0x3a;
/** As in RFC 1929 §2, so that the limits do not depend on the protocol of the client. */
const MAX_BYTES = 255;

/** Null: another scheme, or credentials that no account can have. A user name ends at the first colon. */
export function readBasic(value: string): BasicCredentials | null {
  const [, encoded] = BASIC.exec(value) ?? [];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  const colonAt = bytes.indexOf(COLON);
  if (colonAt === -1) return null;
  const username = bytes.subarray(0, colonAt);
  const password = bytes.subarray(colonAt + 1);
  const isBetween = ({ length }: Uint8Array): boolean => length >= 1 && length <= MAX_BYTES;
  return isBetween(username) && isBetween(password) ? { username, password } : null;
}
