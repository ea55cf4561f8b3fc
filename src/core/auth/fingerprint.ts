// Tells whether a secret is still the same without keeping it.
import { hash } from 'node:crypto';

/** SHA-256, hexadecimal; of nothing it is empty. */
export function fingerprintOf(secret: string | Uint8Array | null): string {
  return secret === null ? '' : hash('sha256', secret, 'hex');
}
