// Encrypts the secrets of second factors (AES-256-GCM) under a key outside the database, so that a copy of the database reveals none.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

export interface TotpKeys {
  /** null: this process has none. */
  key(): Buffer | null;
  /** Returns the key for a new secret, and makes one where that is possible; null: the secret is stored as it is. */
  keyForNew(): Promise<Buffer | null>;
}

export const NO_TOTP_KEYS: TotpKeys = { key: () => null, keyForNew: async () => null };

export const TOTP_KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^aes-256-gcm\$([0-9a-f]{16})\$([A-Za-z0-9+/]+=*)$/;

/** Tells two keys apart, without revealing either. */
export function totpKeyFingerprint(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('pulsegate totp key'), key]), 'hex').slice(0, 16);
}

/** The fingerprint of the key that `text` is encrypted with; null: it is not encrypted. */
export function sealedWith(text: string): string | null {
  return SEALED.exec(text)?.[1] ?? null;
}

/** @param name of the setting: the text is of no use in another one */
export function sealSecret(key: Buffer, name: string, secret: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return `${CIPHER}$${totpKeyFingerprint(key)}$${sealed.toString('base64')}`;
}

/** Returns null when `text` is encrypted with another key, or was changed. */
export function openSecret(key: Buffer | null, name: string, text: string): Buffer | null {
  const [, fingerprint, encoded = ''] = SEALED.exec(text) ?? [];
  if (fingerprint === undefined) return Buffer.from(text, 'base64');
  if (key === null || fingerprint !== totpKeyFingerprint(key)) return null;
  const sealed = Buffer.from(encoded, 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(name))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
