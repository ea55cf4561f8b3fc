// Passwords of people: the administrator and the operators. A derivation (PBKDF2) takes a thread of libuv's pool for some tenths of a
// second, and the database needs these threads too: few run at a time, and accepted credentials are remembered. Passwords of accounts have
// the fast hash of accounts/access/password.ts.
import { createHmac, hash, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { verifyPassword } from '../accounts/access/password.js';
import { isValidPassword, isValidUsername } from '../accounts/account.js';

/** Minimum length of a password that a person chooses. */
export const MIN_PASSWORD_CHARACTERS = 8;

export type PasswordFault = 'invalid-password' | 'short-password';

/** Why a person cannot choose a password; null: it is a valid one. */
export function passwordFault(password: string): PasswordFault | null {
  if (!isValidPassword(password)) return 'invalid-password';
  return [...password].length < MIN_PASSWORD_CHARACTERS ? 'short-password' : null;
}

/** Basic authentication ends the user name at the first colon (RFC 7617 §2), so a name with a colon could never log in. */
export const isValidPersonName = (name: string): boolean => isValidUsername(name) && !name.includes(':');

/** Rounds of a new hash. */
export const PASSWORD_ROUNDS = 600_000;

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
const STORED = /^pbkdf2-sha256\$([1-9]\d{0,8})\$([0-9a-f]{32})\$([0-9a-f]{64})$/;

/** Too many passwords wait for their check. */
export class PasswordChecksBusy extends Error {
  override readonly name = 'PasswordChecksBusy';
}

export interface Credential {
  /** The operator's id; null: the administrator. */
  readonly operatorId: string | null;
  readonly passwordHash: string;
  /** Everything else whose change makes an accepted password forgotten: user name, role. */
  readonly state: string;
}

export type PeoplePasswords = ReturnType<typeof createPeoplePasswords>;

export function createPeoplePasswords(options: {
  readonly maxAtOnce: number;
  /** Number of further derivations that wait. */
  readonly maxWaiting: number;
  readonly rounds?: number;
}) {
  const { maxAtOnce, maxWaiting, rounds = PASSWORD_ROUNDS } = options;
  let running = 0;
  const waiting: (() => void)[] = [];
  const remembered = new Map<string | null, Buffer>();
  const key = randomBytes(DIGEST_BYTES);

  async function derive(password: string, salt: Buffer, ofRounds: number): Promise<Buffer> {
    if (running >= maxAtOnce) {
      if (waiting.length >= maxWaiting)
        throw new PasswordChecksBusy('too many passwords wait for their check');
      await new Promise<void>((begin) => waiting.push(begin));
    } else running += 1;
    try {
      return await new Promise((resolve, reject) => {
        pbkdf2(password, salt, ofRounds, DIGEST_BYTES, 'sha256', (error, derived) =>
          error ? reject(error) : resolve(derived),
        );
      });
    } finally {
      // The next one takes over the place of this one.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  /** Makes the stored form of a new password, `pbkdf2-sha256$<rounds>$<salt hex>$<digest hex>`. Rejects with PasswordChecksBusy. */
  async function hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const derived = await derive(password, salt, rounds);
    return `pbkdf2-sha256$${rounds}$${salt.toString('hex')}$${derived.toString('hex')}`;
  }

  const digestOf = ({ operatorId, passwordHash, state }: Credential, password: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([operatorId, passwordHash, state, password]))
      .digest();

  return {
    hash,

    /**
     * Compares in constant time, after exactly one derivation. `renewed` is the present form of a right password whose stored form is
     * older; null: it needs none. Rejects with PasswordChecksBusy.
     */
    async check(
      password: string,
      stored: string,
    ): Promise<{ readonly isRight: boolean; readonly renewed: string | null }> {
      const [, ofRounds, salt, digest] = STORED.exec(stored) ?? [];
      if (ofRounds && salt && digest) {
        const derived = await derive(password, Buffer.from(salt, 'hex'), Number(ofRounds));
        return { isRight: timingSafeEqual(derived, Buffer.from(digest, 'hex')), renewed: null };
      }
      // A wrong password costs the same derivation as a right one.
      const renewed = await hash(password);
      return verifyPassword(password, stored)
        ? { isRight: true, renewed }
        : { isRight: false, renewed: null };
    },

    /** Whether `remember` was called with this password, and nothing of the credential has changed since. */
    remembers(credential: Credential, password: string): boolean {
      const digest = remembered.get(credential.operatorId);
      return digest !== undefined && timingSafeEqual(digest, digestOf(credential, password));
    },

    /** Remembers an accepted password in place of the person's last one, as a digest that means nothing outside this process. */
    remember: (credential: Credential, password: string): void =>
      void remembered.set(credential.operatorId, digestOf(credential, password)),
    forget: (operatorId: string): void => void remembered.delete(operatorId),
  };
}

/** SHA-256, hexadecimal; empty for null. Secrets of 256 random bits need no salt and no more rounds. */
export const fingerprintOf = (secret: string | Uint8Array | null): string =>
  secret === null ? '' : hash('sha256', secret, 'hex');
