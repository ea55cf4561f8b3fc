// Fingerprints: detect a change of a secret without keeping the secret.
import { hash } from 'node:crypto';

/** SHA-256, hexadecimal; empty for null. */
export function fingerprintOf(secret: string | Uint8Array | null): string {
  return secret === null ? '' : hash('sha256', secret, 'hex');
}
