// Time-based one-time codes: RFC 6238 with SHA-1, 30 seconds and six digits, which every authenticator app supports.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
// RFC 4226 §4 requires at least 128 bits and recommends 160.
const SECRET_BYTES = 20;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const newTotpSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** RFC 4648 §6 without padding, as apps expect it. */
export function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** The counter of RFC 6238 §4.2: whole steps since the epoch. */
export const totpStep = (now: number): number => Math.floor(now / STEP_MS);

/** The code of one step, RFC 4226 §5.3. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = (digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

/**
 * The step of `code`: the current step, the previous or the next one (RFC 6238 §5.2), and later than `after`, so that a code is
 * valid only once. Null when no step matches. Compared in constant time.
 */
export function matchTotp(secret: Uint8Array, code: string, now: number, after: number): number | null {
  const present = totpStep(now);
  let matched: number | null = null;
  for (const step of [present - 1, present, present + 1]) {
    const expected = Buffer.from(totpCode(secret, step));
    const given = Buffer.from(code);
    if (given.length === expected.length && timingSafeEqual(given, expected) && step > after) matched = step;
  }
  return matched;
}

/** `otpauth://totp/…`, for a QR code. */
export function totpUri(secret: Uint8Array, username: string): string {
  const label = encodeURIComponent(`Pulsegate:${username}`);
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=Pulsegate`;
}

export interface TotpKeys {
  /** null: this process has none. */
  key(): Buffer | null;
  /** Returns the key for a new secret, and makes one where that is possible; null: the secret is stored as it is. */
  keyForNew(): Promise<Buffer | null>;
}

export const NO_TOTP_KEYS: TotpKeys = { key: () => null, keyForNew: async () => null };
