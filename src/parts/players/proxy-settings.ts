// Converts the configuration into the settings of the data plane.
import { readSecretFile } from '../../agents/secrets.js';
import type { Config } from '../../config.js';
import type { ClassGuard } from '../../core/accounts/usage/guard.js';
import { parsePortRange } from '../../core/addresses/endpoints.js';
import { type Exit, exitOfUpstream, NEW_EXIT, parseProxy, upstreamId } from '../../core/exits/exit.js';
import type { ProxySettings } from '../../proxy/plane-settings.js';
import type { UpstreamRule } from '../../proxy/upstreams/rules.js';
import { maxConnections, maxHandshakes } from '../capacity.js';

/** Throws StartError (`secret-file`). */
export function proxySettings(config: Config): ProxySettings {
  const { socks } = config;
  const { classes, allowUnderscore, exitTest: _, exitChecks, ...rules } = config.egress;
  const { maxWaitMs, suspend, ...limits } = config.guard;
  return {
    handshakeTimeoutMs: socks.handshakeTimeoutMs,
    connectTimeoutMs: socks.connectTimeoutMs,
    idleTimeoutMs: socks.idleTimeoutMs,
    halfCloseTimeoutMs: socks.halfCloseTimeoutMs,
    maxConnections: maxConnections(config),
    maxConnectionsPerAccount: socks.maxConnectionsPerAccount,
    maxConnectionsPerSource: socks.maxConnectionsPerSource,
    maxHandshakes: maxHandshakes(config),
    maxHandshakesPerSource: socks.maxHandshakesPerSource,
    login: socks.login,
    proxyProtocolFrom: socks.proxyProtocolFrom,
    timeZone: config.timeZone,
    egress: rules,
    egressClasses: Object.fromEntries(
      Object.entries(classes).map(([name, { guard, ...lists }]) => [
        name,
        { ...lists, guard: { ...limits, ...(guard as Partial<ClassGuard>) } },
      ]),
    ),
    guard: { limits, maxWaitMs, suspend },
    allowUnderscore,
    gameIntervalMs: config.heartbeats.gameIntervalMs,
    http: socks.http,
    udp: {
      ...socks.udp,
      ...publicEnds(socks.udp),
      recordedDestinations: config.trace.destinationsPerAssociation,
    },
    bind: { ...socks.bind, ...publicEnds(socks.bind) },
    upstreams: upstreamRules(socks.upstreams),
    exitChecks,
    exitSuffix: socks.exitSuffix,
  };
}

/** Where UDP ASSOCIATE and BIND open their sockets, and how clients reach these. */
const publicEnds = ({
  portRange,
  publicAddress,
}: Pick<Config['socks']['bind'], 'portRange' | 'publicAddress'>) => ({
  portRange: parsePortRange(portRange ?? ''),
  publicAddresses: [publicAddress ?? []].flat(),
});

/** The rules for upstream proxies, with passwords read from their files. Throws StartError (`secret-file`). */
function upstreamRules(rules: Config['socks']['upstreams']): UpstreamRule[] {
  return rules.map(({ match, exit, proxy, username, password, passwordFile, names }, i) => {
    const where = proxy === null ? null : parseProxy(proxy);
    if (where === null) return { match, upstream: null };
    const secret = password?.reveal() ?? readSecretFile(passwordFile, `socks.upstreams[${i}].passwordFile`);
    const login = username === null || secret === null ? null : { username, password: secret };
    const name = exitOfUpstream(exit, i);
    const id = upstreamId(name, { proxy: proxy ?? '', username });
    return { match, upstream: { ...where, login, names, exit: name, id } };
  });
}

/** The exits of the configuration, without passwords: those of the rules for upstream proxies. */
export function configuredExits({ socks: { upstreams } }: Config): Exit[] {
  return upstreams.flatMap(({ exit, proxy, username, names }, i) => {
    if (proxy === null) return [];
    const name = exitOfUpstream(exit, i);
    return [{ ...NEW_EXIT, name, names, upstreams: [{ proxy, username, password: null }] }];
  });
}
