// Codes of a second factor (RFC 6238), as an authenticator app makes them.
import { totpCode, totpStep } from '../../src/core/auth/totp.js';

/**
 * Codes of the step of this call (0) and of steps after it. A daemon accepts 0, and then 1, for the next 30 seconds at least; a code
 * of an earlier step could expire on the way to it.
 */
export function totpCodes(secret: Uint8Array): (after: number) => string {
  const step = totpStep(Date.now());
  return (after) => totpCode(secret, step + after);
}

/** Decodes Base32 (RFC 4648 §6), in which secrets are shown. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
