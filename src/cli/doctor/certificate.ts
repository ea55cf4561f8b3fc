// `pulsegate doctor`: checks that the certificates of the admin port and of the listeners are valid, and when they expire.
import { type Config, ConfigError, readTlsFiles, type TlsFiles, type TlsPair } from '../../config.js';
import { DAY_MS } from '../../core/clock.js';
import { RENEW_MS, tlsFilesOf } from '../../parts/certificates.js';
import { isReadableByOthers } from './files.js';
import type { Finding } from './finding.js';

/** @param now in ms */
export async function checkCertificate(config: Config, now: number): Promise<Finding[]> {
  const findings = tlsFilesOf(config).map(([where, tls]) => {
    const [, listener] = /\[(\d+)\]/.exec(where) ?? [];
    const check = listener === undefined ? 'admin certificate' : `certificate of listener ${listener}`;
    return checkPair(check, tls, where, now);
  });
  return (await Promise.all(findings)).flat();
}

async function checkPair(check: string, tls: TlsFiles, where: string, now: number): Promise<Finding[]> {
  let pair: TlsPair | null;
  try {
    pair = readTlsFiles(tls, where);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, text }) => ({ check, state: 'stop', text: `${where}: ${text}` }));
  }
  return pair && tls.key !== null
    ? [{ check, ...lifetime(pair, now) }, ...(await checkKeyFile(check, tls.key))]
    : [];
}

function lifetime({ certificate, expiresAt }: TlsPair, now: number): Pick<Finding, 'state' | 'text'> {
  const beginsAt = Date.parse(certificate.validFrom);
  const end = new Date(expiresAt).toISOString();
  if (now >= expiresAt) return { state: 'stop', text: `expired on ${end}; renew it` };
  if (now < beginsAt) {
    const begin = new Date(beginsAt).toISOString();
    return { state: 'stop', text: `is not valid before ${begin}; check the clock (NTP) or the certificate` };
  }
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (expiresAt - now <= RENEW_MS)
    return { state: 'warn', text: `expires in ${days} days, on ${end}; renew it and send SIGHUP` };
  return { state: 'ok', text: `valid for ${days} more days, until ${end}` };
}

async function checkKeyFile(check: string, file: string): Promise<Finding[]> {
  if (!(await isReadableByOthers(file))) return [];
  return [{ check, state: 'warn', text: `other users can read the key ${file}; run chmod 600 ${file}` }];
}
