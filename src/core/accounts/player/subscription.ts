// The secret link of an account's subscription, `/sub/<token>`. The token makes the password that client programs get from the link,
// so the daemon can write that into a configuration although it stores only a hash of it.
import { hkdfSync, randomBytes } from 'node:crypto';
import { hashPassword, LINK_PREFIX } from '../access/password.js';

/** 144 bits: 24 characters of base64url. */
const TOKEN_BYTES = 18;
const SALT_BYTES = 16;
/** 20 characters of base64url. */
const PASSWORD_BYTES = 15;

export interface SubscriptionSecrets {
  readonly password: string;
  /** The stored form of the password, `AccountLink.hash`. The token makes its salt too: the hash is what the link is found by. */
  readonly hash: string;
}

export const newSubscriptionToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** HKDF (RFC 5869) with SHA-256: whoever has the password cannot compute the token. */
export function secretsOf(token: string): SubscriptionSecrets {
  const bytes = Buffer.from(
    hkdfSync('sha256', token, '', 'pulsegate subscription', PASSWORD_BYTES + SALT_BYTES),
  );
  const password = LINK_PREFIX + bytes.subarray(0, PASSWORD_BYTES).toString('base64url');
  return { password, hash: hashPassword(password, bytes.subarray(PASSWORD_BYTES)) };
}
