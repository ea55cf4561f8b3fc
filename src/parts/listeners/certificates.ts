// Reads the certificate of the admin API or of a listener, at the start and on SIGHUP.
import { readTlsFiles, type TlsFiles, type TlsPair } from '../../config/tls-files.js';
import type { Config } from '../../config.js';
import type { Log } from '../../core/log.js';
import { DAY_MS } from '../../core/time/clock.js';

/** ACME clients renew a certificate about 30 days before it expires, so 14 days left means that renewal failed. */
export const RENEW_MS = 14 * DAY_MS;

/**
 * Reads certificate and key; null when none is set. Logs an expired certificate, and uses it nevertheless.
 * @param now in ms
 * @param where the configuration key that contains both file names
 * @throws ConfigError like readTlsFiles
 */
export function readCertificate(
  files: TlsFiles,
  log: Pick<Log, 'warn'>,
  now: number,
  where = 'admin.tls',
): TlsPair | null {
  const pair = readTlsFiles(files, where);
  if (pair && pair.expiresAt <= now) {
    log.warn({ certificate: where, expiredAt: new Date(pair.expiresAt) }, 'certificate has expired');
  }
  return pair;
}

/** Returns the certificates of the admin port and of the listeners, each with the configuration key that contains its files. */
export function tlsFilesOf(config: Pick<Config, 'admin' | 'socks'>): [where: string, tls: TlsFiles][] {
  const { admin, socks } = config;
  const ofListeners = socks.listeners.flatMap(({ tls }, i): [string, TlsFiles][] =>
    tls === undefined ? [] : [[`socks.listeners[${i}].tls`, tls]],
  );
  return [['admin.tls', admin.tls], ...ofListeners];
}
