// Texts that are stored encrypted: secrets of second factors, and answers kept for a repeated request.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { tryOr } from '../errors.js';

export const SEAL_KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^aes-256-gcm\$([0-9a-f]{16})\$([A-Za-z0-9+/]+=*)$/;

/** Tells two keys apart, without revealing either. */
export const sealKeyFingerprint = (key: Buffer): string =>
  hash('sha256', Buffer.concat([Buffer.from('pulsegate totp key'), key]), 'hex').slice(0, 16);

/** The fingerprint of the key that `text` is encrypted with; null: it is not encrypted. */
export const sealedWith = (text: string): string | null => SEALED.exec(text)?.[1] ?? null;

/** @param name of the setting: the text is of no use in another one */
export function sealSecret(key: Buffer, name: string, secret: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return `${CIPHER}$${sealKeyFingerprint(key)}$${sealed.toString('base64')}`;
}

/** Returns null when `text` is encrypted with another key, or was changed. */
export function openSecret(key: Buffer | null, name: string, text: string): Buffer | null {
  const [, fingerprint, encoded = ''] = SEALED.exec(text) ?? [];
  if (fingerprint === undefined) return Buffer.from(text, 'base64');
  if (key === null || fingerprint !== sealKeyFingerprint(key)) return null;
  const sealed = Buffer.from(encoded, 'base64');
  return tryOr(null, () => {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(name))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  });
}
