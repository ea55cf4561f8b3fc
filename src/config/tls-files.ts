// Reads the certificate and private key of `admin.tls` or of a listener, and checks that they match.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { codeOf } from '../core/errors.js';
import { ConfigError, configError, type Problem } from './config-error.js';
import { Secret } from './units.js';

export interface TlsFiles {
  readonly cert: string | null;
  readonly key: string | null;
}

export interface TlsPair {
  /** The certificate chain in PEM. */
  readonly cert: string;
  /** The private key in PEM. */
  readonly key: Secret;
  /** The first certificate of the chain. */
  readonly certificate: X509Certificate;
  /** Expiry of the certificate, in ms since the epoch. */
  readonly expiresAt: number;
}

/**
 * Reads certificate and key; null when none is set.
 * @param where the configuration key that contains both file names
 * @throws ConfigError when a file cannot be read or parsed, or when the key does not match the certificate
 */
export function readTlsFiles({ cert, key }: TlsFiles, where = 'admin.tls'): TlsPair | null {
  if (cert === null || key === null) return null;
  const problems: Problem[] = [];
  const chain = readPem(`${where}.cert`, cert, 'certificate', (pem) => new X509Certificate(pem), problems);
  const secret = readPem(`${where}.key`, key, 'private key', createPrivateKey, problems);
  if (!chain || !secret) throw new ConfigError(problems);
  if (!chain.parsed.checkPrivateKey(secret.parsed)) {
    throw configError(`${where}.key`, `the private key in ${key} does not match the certificate in ${cert}`);
  }
  try {
    // Loaded only here: it takes time at each start.
    process.getBuiltinModule('node:tls').createSecureContext({ cert: chain.text, key: secret.text });
  } catch (error) {
    throw configError(
      `${where}.cert`,
      `the certificate in ${cert} is not usable (${codeOf(error) ?? 'unknown error'})`,
      error,
    );
  }
  return {
    cert: chain.text,
    key: new Secret(secret.text),
    certificate: chain.parsed,
    expiresAt: Date.parse(chain.parsed.validTo),
  };
}

/** The text of the file and the parsed object; on failure adds to `problems` and returns null. */
export function readPem<T>(
  where: string,
  file: string,
  what: 'certificate' | 'private key',
  parse: (pem: string) => T,
  problems: Problem[],
): { text: string; parsed: T } | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    problems.push({ where, text: `the file ${file} cannot be read (${codeOf(error) ?? 'unknown error'})` });
    return null;
  }
  try {
    return { text, parsed: parse(text) };
  } catch (error) {
    const fault = FAULTS[codeOf(error) ?? ''] ?? `contains no ${what} in PEM format`;
    problems.push({ where, text: `the file ${file} ${fault}` });
    return null;
  }
}

const LOCKED = 'is protected by a passphrase, which is not supported';

/** The error codes of Node for a key that needs a passphrase. */
const FAULTS: Readonly<Record<string, string>> = {
  ERR_MISSING_PASSPHRASE: LOCKED,
  ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED: LOCKED,
};
