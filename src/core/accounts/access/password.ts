// Hashes and verifies passwords. The stored form is `sha256$<salt hex>$<digest hex>`, or for imported accounts an unsalted SHA-256
// of 64 hexadecimal digits.
import { hash, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto';

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
const SALTED = /^sha256\$([0-9a-f]{32})\$([0-9a-f]{64})$/i;
const PREFIX = /^sha256\$/i;
const BARE = /^[0-9a-f]{64}$/i;
/** Begins the password of a link; 20 characters follow. */
export const LINK_PREFIX = 'link-';
/** Lengths of both stored forms. */
const SALTED_CHARS = 'sha256$$'.length + 2 * (SALT_BYTES + DIGEST_BYTES);
const BARE_CHARS = 2 * DIGEST_BYTES;
const NO_SALT = Buffer.alloc(0);

// Of the check that runs: players log in often, and new Buffers would cost more than the digest.
const SALT = Buffer.alloc(SALT_BYTES);
const STORED_DIGEST = Buffer.alloc(DIGEST_BYTES);
const GIVEN_DIGEST = Buffer.alloc(DIGEST_BYTES);

/** Random bytes in stock, and where those begin that have not been used: asking for 16 costs as much as for thousands. */
const SALTS = Buffer.alloc(256 * SALT_BYTES);
let nextSalt = SALTS.length;

// A random dummy hash, generated at each start. Replaces a malformed hash and the hash of an unknown user.
// As text, so that an unknown user takes the same steps as a known one.
const DUMMY_STORED = hashPassword(randomBytes(DIGEST_BYTES));

/** Returns random bytes, which are valid until the next call. */
function newSalt(): Buffer {
  if (nextSalt === SALTS.length) {
    randomFillSync(SALTS);
    nextSalt = 0;
  }
  nextSalt += SALT_BYTES;
  return SALTS.subarray(nextSalt - SALT_BYTES, nextSalt);
}

/**
 * The stored form of a password: SHA-256 over the 16 salt bytes, then the password (text as UTF-8).
 * The salt is random unless given.
 */
export function hashPassword(password: string | Uint8Array, salt: Buffer = newSalt()): string {
  return `sha256$${salt.toString('hex')}$${digestOf(salt, password)}`;
}

/**
 * Whether `password` matches `stored`, compared in constant time. Computes exactly one digest. Returns false when `stored` is
 * malformed.
 */
export function verifyPassword(password: string | Uint8Array, stored: string): boolean {
  const salt = readStored(stored) ?? readStored(DUMMY_STORED) ?? NO_SALT;
  GIVEN_DIGEST.write(digestOf(salt, password), 'hex');
  return timingSafeEqual(GIVEN_DIGEST, STORED_DIGEST);
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

export const isSalted = (stored: string): boolean => SALTED.test(stored);

/** Whether `stored` is a valid hash without a salt. It is replaced at the next successful login. */
export const isBare = (stored: string): boolean => BARE.test(stored);

/** Whether `stored` is a valid password hash; for imports. */
export const isPasswordHash = (stored: string): boolean => isSalted(stored) || isBare(stored);

/** Reads the digest into STORED_DIGEST. Returns the salt, valid until the next call; null: `stored` is malformed. */
function readStored(stored: string): Buffer | null {
  const isWithSalt = stored.length === SALTED_CHARS && PREFIX.test(stored) && stored[39] === '$';
  if (!isWithSalt && stored.length !== BARE_CHARS) return null;
  // `write` stops at the first character that is no hexadecimal digit.
  const digest = isWithSalt ? stored.slice(-BARE_CHARS) : stored;
  if (STORED_DIGEST.write(digest, 'hex') < DIGEST_BYTES) return null;
  if (!isWithSalt) return NO_SALT;
  return SALT.write(stored.slice('sha256$'.length, 39), 'hex') < SALT_BYTES ? null : SALT;
}

/** As hexadecimal text: creating a Buffer in `hash` costs more than the digest. */
function digestOf(salt: Buffer, password: string | Uint8Array): string {
  const bytes = typeof password === 'string' ? Buffer.from(password) : password;
  return hash('sha256', Buffer.concat([salt, bytes]), 'hex');
}
