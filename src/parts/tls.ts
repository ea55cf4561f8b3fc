// A certificate of the admin API or of a listener, read at the start and on SIGHUP.
import { readTlsFiles, type TlsFiles, type TlsPair } from '../config.js';
import type { Log } from '../core/log.js';

/**
 * Reads the pair; null when none is set. One that has expired is served all the same, and logged.
 * @param now in ms
 * @param where the key of the configuration that has both files
 * @throws ConfigError as readTlsFiles
 */
export function readCertificate(
  files: TlsFiles,
  log: Pick<Log, 'warn'>,
  now: number,
  where = 'admin.tls',
): TlsPair | null {
  const pair = readTlsFiles(files, where);
  if (pair && pair.expiresAt <= now) {
    log.warn({ expiredAt: new Date(pair.expiresAt) }, `the certificate of ${where} has expired`);
  }
  return pair;
}
