// The operator's files of countries and networks (`geo`): reads them at the start, when they have changed, and on SIGHUP.
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { ConfigError, type Problem } from '../config/config-error.js';
import type { Config } from '../config.js';
import { lacksGeoFile } from '../core/accounts/access/address-list.js';
import type { AccountDirectory } from '../core/accounts/directory.js';
import { presentGeo } from '../core/addresses/geo.js';
import { codeOf } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { type GeoFiles, geoFault, knowsIpv6, openGeo } from '../geo.js';

/** How often to look whether a file has changed, in ms. */
const LOOK_MS = 2_000;

export type GeoPart = ReturnType<typeof createGeoPart>;

/** Throws ConfigError when a file cannot be used. */
export function createGeoPart(config: Pick<Config, 'geo' | 'socks'>, log: Log) {
  const { geo: paths } = config;
  let files = readGeoFiles(paths);
  let present = openGeo(files);
  const listeners: ((files: GeoFiles) => void)[] = [];
  const watched = Object.values(paths).filter((path) => path !== null);
  const warn = (): void => {
    for (const { where, text } of geoWarnings(config, files))
      log.warn({ key: where, reason: text }, 'file of countries or networks has no IPv6');
  };
  warn();

  function reload(): void {
    if (watched.length === 0) return;
    try {
      files = readGeoFiles(paths);
    } catch (error) {
      const reasons = error instanceof ConfigError ? error.problems.map(({ text }) => text) : [String(error)];
      return log.warn({ reasons }, 'countries and networks not reloaded; keeping those read before');
    }
    present = openGeo(files);
    for (const listener of listeners) listener(files);
    log.info({ files: watched }, 'countries and networks reloaded');
    warn();
  }

  return {
    name: 'countries and networks',
    get files() {
      return files;
    },
    geo: presentGeo(() => present),
    onLoaded: (listener: (files: GeoFiles) => void): void => void listeners.push(listener),
    /** Reads the files again. When one cannot be used, logs why, and what was read before stays in use. */
    reload,
    start() {
      for (const path of watched) watchFile(path, { interval: LOOK_MS, persistent: false }, reload);
    },
    stop() {
      for (const path of watched) unwatchFile(path, reload);
    },
  };
}

/** Returns the files that know no IPv6 addresses, although clients or destinations have such. */
export function geoWarnings({ socks, geo }: Pick<Config, 'socks' | 'geo'>, files: GeoFiles): Problem[] {
  const hosts = [...socks.host, ...socks.listeners.flatMap(({ host }) => host ?? [])];
  if (!hasGlobalIpv6() && !hosts.some((host) => host.includes(':'))) return [];
  return (['country', 'asn'] as const).flatMap((kind) => {
    const file = files[kind];
    if (file === null || knowsIpv6(file)) return [];
    return {
      where: `geo.${kind}`,
      text: `the file ${geo[kind]} has IPv4 only: no rule matches IPv6 addresses`,
    };
  });
}

export const hasGlobalIpv6 = (): boolean =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .some(({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address));

/** Logs how many accounts are bound to a country or network of which no file is configured any more. */
export function warnOfLostGeo({ geo }: Pick<Config, 'geo'>, directory: AccountDirectory, log: Log): void {
  const bound = [...directory.all()].filter((account) => lacksGeoFile(account, geo));
  const users = bound.slice(0, 5).map(({ username }) => username);
  if (users.length > 0) log.warn({ accounts: bound.length, users }, LOST_GEO);
}

export const LOST_GEO = 'allowed clients by country or network allow nobody: no file of geo is configured';

/** Reads the files into memory that threads can share. Throws ConfigError. */
export function readGeoFiles(paths: Config['geo']): GeoFiles {
  const problems: Problem[] = [];
  const read = (kind: keyof GeoFiles): SharedArrayBuffer | null => {
    const path = paths[kind];
    const found = path === null ? null : contents(path, kind);
    if (typeof found !== 'string') return found;
    problems.push({ where: `geo.${kind}`, text: `the file ${path} ${found}` });
    return null;
  };
  const files = { country: read('country'), asn: read('asn') };
  if (problems.length > 0) throw new ConfigError(problems);
  return files;
}

/** The contents of a file, or why it cannot be used. */
function contents(path: string, kind: keyof GeoFiles): SharedArrayBuffer | string {
  try {
    const bytes = readFileSync(path);
    const file = new SharedArrayBuffer(bytes.length);
    new Uint8Array(file).set(bytes);
    return geoFault(file, kind) ?? file;
  } catch (error) {
    return `cannot be read (${codeOf(error) ?? 'unknown error'})`;
  }
}
