// Hashes and verifies passwords. The stored form is `sha256$<salt hex>$<digest hex>`, or for imported accounts an unsalted SHA-256
// of 64 hexadecimal digits.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
const SALTED = /^sha256\$([0-9a-f]{32})\$([0-9a-f]{64})$/i;
const BARE = /^[0-9a-f]{64}$/i;
/** Begins the password of a link; 20 characters follow. */
export const LINK_PREFIX = 'link-';
const NO_SALT = Buffer.alloc(0);

interface Stored {
  readonly salt: Buffer;
  readonly digest: Buffer;
}

// A random dummy hash, generated at each start. Replaces a malformed hash and the hash of an unknown user.
const DUMMY: Stored = { salt: randomBytes(SALT_BYTES), digest: randomBytes(DIGEST_BYTES) };
// As text, so that an unknown user takes the same steps as a known one.
const DUMMY_STORED = format(DUMMY.salt, DUMMY.digest);

/**
 * The stored form of a password: SHA-256 over the 16 salt bytes, then the password (text as UTF-8).
 * The salt is random unless given.
 */
export const hashPassword = (password: string | Uint8Array, salt: Buffer = randomBytes(SALT_BYTES)): string =>
  format(salt, digestOf(salt, password));

/**
 * Whether `password` matches `stored`, compared in constant time. Computes exactly one digest. Returns false when `stored` is
 * malformed.
 */
export function verifyPassword(password: string | Uint8Array, stored: string): boolean {
  const { salt, digest } = parse(stored) ?? DUMMY;
  return timingSafeEqual(digestOf(salt, password), digest);
}

/** Whether a password has the form of those that links make (player/subscription.ts); another password may have it too. */
export function isLinkPassword(password: Uint8Array): boolean {
  if (password.length !== LINK_PREFIX.length + 20) return false;
  for (let i = 0; i < LINK_PREFIX.length; i += 1) if (password[i] !== LINK_PREFIX.charCodeAt(i)) return false;
  return true;
}

/** Takes as long as `verifyPassword`, for an unknown user. */
export function verifyAgainstDummy(password: string | Uint8Array): false {
  verifyPassword(password, DUMMY_STORED);
  return false;
}

/** Whether `stored` has a salt. A hash without one is replaced at the next successful login. */
export const isSalted = (stored: string): boolean => SALTED.test(stored);

/** Whether `stored` is a valid password hash; for imports. */
export const isPasswordHash = (stored: string): boolean => SALTED.test(stored) || BARE.test(stored);

function parse(stored: string): Stored | null {
  const [, salt, digest] = SALTED.exec(stored) ?? [];
  if (salt && digest) return { salt: Buffer.from(salt, 'hex'), digest: Buffer.from(digest, 'hex') };
  if (BARE.test(stored)) return { salt: NO_SALT, digest: Buffer.from(stored, 'hex') };
  return null;
}

function digestOf(salt: Buffer, password: string | Uint8Array): Buffer {
  const bytes = typeof password === 'string' ? Buffer.from(password) : password;
  // Digest as hexadecimal text: creating a Buffer in `hash` costs more than the digest.
  return Buffer.from(hash('sha256', Buffer.concat([salt, bytes]), 'hex'), 'hex');
}

function format(salt: Buffer, digest: Buffer): string {
  return `sha256$${salt.toString('hex')}$${digest.toString('hex')}`;
}
