// A certificate and its key, of `admin.tls` or a listener: read from their files, and held against each other before they are used.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError, type Problem } from './config-error.js';
import { Secret } from './secret.js';

export interface TlsFiles {
  readonly cert: string | null;
  readonly key: string | null;
}

export interface TlsPair {
  /** PEM: the certificate, then those that lead to its issuer. */
  readonly cert: string;
  /** PEM. */
  readonly key: Secret;
  /** The first one of `cert`. */
  readonly certificate: X509Certificate;
  /** When it ends, in ms. */
  readonly expiresAt: number;
}

/**
 * Reads the pair; null when none is set.
 * @param where the key of the configuration that has both files
 * @throws ConfigError when a file cannot be read, is not what it should be, or the two do not belong together
 */
export function readTlsFiles({ cert, key }: TlsFiles, where = 'admin.tls'): TlsPair | null {
  if (cert === null || key === null) return null;
  const problems: Problem[] = [];
  const chain = readPem(`${where}.cert`, cert, 'certificate', (pem) => new X509Certificate(pem), problems);
  const secret = readPem(`${where}.key`, key, 'private key', createPrivateKey, problems);
  if (!chain || !secret) throw new ConfigError(problems);
  if (!chain.parsed.checkPrivateKey(secret.parsed)) {
    throw refusal(`${where}.key`, `the key in ${key} does not belong to the certificate in ${cert}`);
  }
  try {
    createSecureContext({ cert: chain.text, key: secret.text });
  } catch (error) {
    throw refusal(`${where}.cert`, `the certificate in ${cert} cannot be used (${codeOf(error)})`, error);
  }
  return {
    cert: chain.text,
    key: new Secret(secret.text),
    certificate: chain.parsed,
    expiresAt: Date.parse(chain.parsed.validTo),
  };
}

/** The file's text and what it holds; null after adding to `problems` why there is none. */
function readPem<T>(
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
    problems.push({ where, text: `the file ${file} cannot be read (${codeOf(error)})` });
    return null;
  }
  try {
    return { text, parsed: parse(text) };
  } catch (error) {
    const fault = FAULTS[codeOf(error)] ?? `holds no ${what} in PEM form`;
    problems.push({ where, text: `the file ${file} ${fault}` });
    return null;
  }
}

const LOCKED = 'is locked by a passphrase, which nobody could enter at a start';

/** Without a passphrase, Node says the one or the other of a key that needs one. */
const FAULTS: Readonly<Record<string, string>> = {
  ERR_MISSING_PASSPHRASE: LOCKED,
  ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED: LOCKED,
};

function refusal(where: string, text: string, cause?: unknown): ConfigError {
  return new ConfigError([{ where, text }], { cause });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
