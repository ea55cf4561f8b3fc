// The certificate of the admin API, read at the start and on SIGHUP.
import { readTlsFiles, type TlsFiles, type TlsPair } from '../config.js';
import type { Log } from '../core/log.js';

/**
 * Reads the pair; null when none is set. One that has expired is served all the same, and logged.
 * @param now in ms
 * @throws ConfigError as readTlsFiles
 */
export function readCertificate(files: TlsFiles, log: Pick<Log, 'warn'>, now: number): TlsPair | null {
  const pair = readTlsFiles(files);
  if (pair && pair.expiresAt <= now) {
    log.warn({ expiredAt: new Date(pair.expiresAt) }, 'the certificate of admin.tls has expired');
  }
  return pair;
}
