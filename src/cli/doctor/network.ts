// `pulsegate doctor`: checks names, IPv6 and ports.
import { Resolver } from 'node:dns/promises';
import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import { createServer } from 'node:net';
import type { Config } from '../../config.js';
import { isLoopback as isLoopbackAddress } from '../../core/addresses/ip.js';
import { StartError } from '../../core/errors.js';
import { hasGlobalIpv6 } from '../../parts/geo.js';
import { listenOn, openServer } from '../../parts/listeners/listen.js';
import { daemonApi } from '../shared/daemon.js';
import { type Found, ok, stop, warn } from './finding.js';

/** Errors that mean that no server answered. NXDOMAIN is not one: it is an answer. */
const NO_ANSWER = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EREFUSED', 'ESERVFAIL', 'EBADRESP']);

export async function checkDns({ dns }: Config): Promise<Found> {
  const resolver = new Resolver({ timeout: Math.min(dns.timeoutMs, 3000), tries: 1 });
  if (dns.servers.length > 0) resolver.setServers(dns.servers);
  const servers = resolver.getServers().join(', ') || 'none';
  const startedAt = performance.now();
  const failure = await resolver.resolve4('example.com').then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (failure && NO_ANSWER.has(failure))
    return warn(`${servers}: no answer (${failure}); host names cannot be resolved; set dns.servers`);
  return ok(`${servers} answers in ${Math.round(performance.now() - startedAt)} ms`);
}

export function checkIpv6(): Found {
  if (hasGlobalIpv6()) return ok('this machine has a global IPv6 address');
  return warn('no global IPv6 address: IPv6 destinations are not reachable');
}

/** Whether the port is free, or the running daemon's. */
export async function checkPort(config: Config, name: 'socks' | 'admin'): Promise<Found> {
  const { host: hosts, port } = config[name];
  try {
    const { close, addresses } = await listenOn({
      name,
      hosts,
      port,
      open: (where, isDualStack) => openServer(null, createServer(), { name, ...where, isDualStack }),
    });
    close();
    return ok(port === 0 ? 'any free port' : `${addresses.join(', ')} free`);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    if (
      error.code === 'port-in-use' &&
      ((await runningVersion(config)) !== null || (await isPulsegate(config)))
    )
      return ok(`${port} in use by the running daemon`);
    return stop(error.message);
  }
}

/** The version of the running daemon of this data folder; null: none runs, or this user may not ask it. */
export const runningVersion = (config: Config): Promise<string | null> =>
  daemonApi(config)
    .call('GET /me')
    .then(
      ({ version }) => version,
      () => null,
    );

const PROBE_MS = 2000;
/** Where to reach a listener of these hosts. A name would be looked up, by a server that may not know it. */
const REACHED_AT: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '::1',
  localhost: '127.0.0.1',
};

/** Whether a Pulsegate listens on the admin port: its 401 response names the realm. */
function isPulsegate({ admin }: Config): Promise<boolean> {
  const [first = ''] = admin.host;
  const host = REACHED_AT[first] ?? first;
  // The certificate is not verified: the request sends no credentials and reads only the realm.
  const get = admin.tls.cert === null ? getPlain : getOverTls;
  const path = '/ProxyAccount/GetProxyAccountList';
  return new Promise((resolve) => {
    const request = get(
      { host, port: admin.port, path, timeout: PROBE_MS, rejectUnauthorized: false },
      (response) => {
        response.resume();
        resolve(/realm="Pulsegate"/.test(response.headers['www-authenticate'] ?? ''));
      },
    );
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', () => resolve(false));
  });
}

export const isLoopback = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host);
