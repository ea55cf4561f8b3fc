// `pulsegate doctor`: checks the configured files of secrets, countries, agents and certificates, and who can read the secrets.
import { stat } from 'node:fs/promises';
import { isPlainObject } from '../../config/units.js';
import type { Config, Loaded, TlsFiles, TlsPair } from '../../config.js';
import { ConfigError, readTlsFiles, Secret } from '../../config.js';
import { DAY_MS } from '../../core/time/clock.js';
import { RENEW_MS, tlsFilesOf } from '../../parts/listeners/certificates.js';
import { fileWarnings, geoFileProblems, secretFileProblems } from '../../parts/named-files.js';
import { type Found, ok, stop, warn } from './finding.js';

export function checkFiles({ config }: Loaded): Found[] {
  return [
    ...[...secretFileProblems(config), ...geoFileProblems(config)].map(({ where, text }) =>
      stop(`${where}: ${text}`),
    ),
    ...fileWarnings(config).map(({ where, text }) => warn(`${where}: ${text}`)),
  ];
}

/** Warns of files with secrets that other users of this machine can read. */
export async function checkSecrets({ asRead, effective, file }: Loaded): Promise<Found[]> {
  const values = [...valuesIn(asRead)];
  const sources = effective();
  const findings: Found[] = [];
  const inFile = values.flatMap(({ path, value }) =>
    value instanceof Secret && sourceOf(path, sources) === 'file' ? [path] : [],
  );
  if (file !== null && inFile.length > 0 && (await isReadableByOthers(file))) {
    const advice = `run chmod 640 ${file} with the daemon's group, or keep secrets in files of their own`;
    findings.push(warn(`other users can read ${file}, which contains ${inFile.join(', ')}; ${advice}`));
  }
  for (const { path, value } of values) {
    // secretFile, passwordFile, apiKeyFile, connectionFile
    if (typeof value !== 'string' || !path.endsWith('File') || !(await isReadableByOthers(value))) continue;
    findings.push(warn(`other users can read ${value} (${path}); run chmod 600 ${value}`));
  }
  return findings;
}

/** Checks the certificates of the admin port and of the listeners. @param now in ms */
export async function checkCertificates(config: Config, now: number): Promise<Found[]> {
  const findings = tlsFilesOf(config).map(async ([where, tls]) => {
    const [, listener] = /\[(\d+)\]/.exec(where) ?? [];
    const found = await checkPair(tls, where, now);
    if (listener === undefined) return found;
    return found.map((each) => ({ ...each, check: `certificate of listener ${listener}` }));
  });
  return (await Promise.all(findings)).flat();
}

async function checkPair(tls: TlsFiles, where: string, now: number): Promise<Found[]> {
  let pair: TlsPair | null;
  try {
    pair = readTlsFiles(tls, where);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, text }) => stop(`${where}: ${text}`));
  }
  const { key } = tls;
  if (!pair || key === null) return [];
  const exposed = await isReadableByOthers(key);
  return [
    lifetime(pair, now),
    ...(exposed ? [warn(`other users can read the key ${key}; run chmod 600 ${key}`)] : []),
  ];
}

function lifetime({ certificate, expiresAt }: TlsPair, now: number): Found {
  const beginsAt = Date.parse(certificate.validFrom);
  const end = new Date(expiresAt).toISOString();
  if (now >= expiresAt) return stop(`expired on ${end}; renew it`);
  if (now < beginsAt) {
    const begin = new Date(beginsAt).toISOString();
    return stop(`is not valid before ${begin}; check the clock (NTP) or the certificate`);
  }
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (expiresAt - now <= RENEW_MS)
    return warn(`expires in ${days} days, on ${end}; renew it and send SIGHUP`);
  return ok(`valid for ${days} more days, until ${end}`);
}

const READ_BY_OTHERS = 0o007;

/** Returns whether users who are neither the owner nor in the group can read the file; false for a missing file. */
async function isReadableByOthers(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && (found.mode & READ_BY_OTHERS) !== 0;
}

/** Returns every value of the configuration with its path. */
function* valuesIn(value: unknown, path = ''): Generator<{ path: string; value: unknown }> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* valuesIn(item, `${path}[${i}]`);
  else if (isPlainObject(value))
    for (const [key, item] of Object.entries(value))
      yield* valuesIn(item, path === '' ? key : `${path}.${key}`);
  else yield { path, value };
}

/** Returns where a value comes from. Lists and maps are one entry. */
function sourceOf(path: string, effective: ReturnType<Loaded['effective']>): string | undefined {
  return effective.find(({ path: key }) => path.startsWith(key) && /^($|[.[])/.test(path.slice(key.length)))
    ?.source;
}
