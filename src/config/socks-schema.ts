// The key `socks`: listeners, commands (UDP, BIND), limits and upstream proxies.
import { isIP } from 'node:net';
import { z } from 'zod';
import { isPublicHost } from '../core/accounts/player/proxy-link.js';
import { isSocketPath, MAX_SOCKET_PATH_BYTES, parsePortRange } from '../core/addresses/endpoints.js';
import { parseCidr } from '../core/addresses/ip.js';
import { EXIT_NAME, exitOfUpstream, MAX_EXITS, parseProxy } from '../core/exits/exit.js';
import { readDestination } from '../core/heartbeats/game-destination.js';
import {
  about,
  autoOr,
  duration,
  flag,
  listenHosts,
  listenPort,
  oneOf,
  orNull,
  report,
  secret,
  section,
  size,
  text,
  textThat,
  whole,
} from './fields.js';

const portRange = () =>
  orNull(
    textThat(
      'null, or a range of ports such as "40000-49999"',
      (range) => range.includes('-') && parsePortRange(range) !== null,
    ),
  );

const publicAddress = () => {
  const allowed = 'null, an IP address, or a list of one IPv4 and one IPv6 address';
  const address = textThat(allowed, (each) => isIP(each) !== 0);
  return orNull(
    z
      .union([address, z.array(address).min(1).max(2)])
      .refine(
        (list) => typeof list === 'string' || list.length < 2 || isIP(list[0] ?? '') !== isIP(list[1] ?? ''),
      )
      .register(about, { allowed }),
  );
};

const udp = section({
  enabled: flag().default(true),
  portRange: portRange(),
  publicAddress: publicAddress(),
  idleTimeout: duration({ min: '1s' }).prefault('5m'),
  dnsIdleTimeout: duration({ min: '1s' }).prefault('15s'),
  fullCone: flag().default(true),
  maxDestinations: whole(1, 65_536).default(1000),
  maxWaitingForUpstream: whole(1, 10_000).default(32),
  maxAssociationsPerAccount: whole(1, 65_536).default(512),
  maxDecisionsPerSecond: whole(10, 1_000_000).default(2000),
  fragmentMemory: size({ min: '64KiB', max: '1GiB' }).prefault('4MiB'),
});

const bind = section({
  enabled: flag().default(false),
  portRange: portRange(),
  publicAddress: publicAddress(),
  timeout: duration({ min: '1s', max: '1h' }).prefault('2m'),
});

/** The entry in proxyProtocolFrom for connections over a Unix socket. */
const UNIX_SOURCE = 'unix';

const PROTOCOLS = ['socks5', 'socks4', 'http'] as const;

/** The protocols of a listener. The first byte of a connection selects one. */
const protocols = () =>
  z
    .array(oneOf(...PROTOCOLS))
    .min(1)
    .register(about, { allowed: 'a list of at least one of socks5, socks4 and http' });

const listener = section({
  host: listenHosts().optional(),
  port: listenPort().optional(),
  path: textThat(
    `the path of a Unix socket, at most ${MAX_SOCKET_PATH_BYTES} bytes`,
    isSocketPath,
  ).optional(),
  mode: text('the permissions of the Unix socket in octal, such as "0660"', /^0?[0-7]{3}$/).optional(),
  proxyProtocol: flag().optional(),
  protocols: protocols().optional(),
  tls: section({
    cert: text('the path of a PEM file with the certificate chain'),
    key: text('the path of a PEM file with the private key'),
  }).optional(),
}).superRefine(({ host, port, path, mode, tls }, context) => {
  const isTcp = host !== undefined && port !== undefined && path === undefined && mode === undefined;
  const isUnix = path !== undefined && host === undefined && port === undefined;
  if (!isTcp && !isUnix) report(context, [], 'a host with a port, or the path of a Unix socket');
  if (tls !== undefined && path !== undefined) report(context, ['tls'], 'no certificate on a Unix socket');
});

const upstream = section({
  match: section({
    hosts: z.array(text('a host name, *.name, an address, a network or *')).optional(),
    ports: z.array(z.union([whole(1, 65_535), text('a range of ports')])).optional(),
  }).prefault({}),
  proxy: textThat(
    'the host and port of a SOCKS5 or HTTP proxy, such as proxy.example:1080 or http://proxy.example:3128, with TLS socks5s:// or https://, then also with ?ca=/FILE or ?fingerprint=SHA-256',
    (where) => parseProxy(where) !== null,
  ).nullable(),
  exit: orNull(
    text('null, or the name of the exit: 1 to 64 letters, digits, dots, dashes and underscores', EXIT_NAME),
  ),
  username: orNull(text('a user name of 1 to 255 bytes')),
  password: orNull(secret('a password of 1 to 255 bytes')),
  passwordFile: orNull(text('a file path')),
  names: oneOf('here', 'proxy').default('here'),
}).superRefine(({ match, username, password, passwordFile }, context) => {
  try {
    readDestination(match, 'match');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    report(context, ['match'], `valid hosts and ports: ${why}`);
  }
  if (password && passwordFile) report(context, ['passwordFile'], 'null, because password is also set');
  const hasPassword = password !== null || passwordFile !== null;
  if (hasPassword !== (username !== null))
    report(context, ['username'], 'a user name together with a password, or neither');
});

function checkExitNames(rules: readonly { readonly exit: string | null }[], context: z.RefinementCtx): void {
  const names = rules.map(({ exit }, i) => exitOfUpstream(exit, i));
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i) report(context, [i, 'exit'], 'a name that no rule before has');
}

export const socksSchema = section({
  host: listenHosts().prefault('127.0.0.1'),
  port: listenPort().default(1080),
  publicHost: orNull(textThat('null, or the host name or address that players connect to', isPublicHost)),
  publicPort: orNull(whole(1, 65_535)),
  protocols: protocols().default([...PROTOCOLS]),
  http: section({
    maxHeader: size({ min: '1KiB', max: '1MiB' }).prefault('16KiB'),
    maxHeaderFields: whole(10, 10_000).default(100),
  }).prefault({}),
  exitSuffix: z
    .array(text('the name of an exit: 1 to 64 letters, digits, dots, dashes and underscores', EXIT_NAME))
    .max(MAX_EXITS)
    .default([]),
  maxAuthorizedAddresses: whole(1, 256).default(16),
  maxAllowedClients: whole(1, 256).default(16),
  tls: section({ maxHandshakesPerSecond: whole(1, 100_000).default(50) }).prefault({}),
  listeners: z.array(listener).max(64).default([]),
  proxyProtocol: flag().default(false),
  proxyProtocolFrom: z
    .array(
      textThat(
        'an address, a network such as 10.0.0.0/8, or unix',
        (source) => source === UNIX_SOURCE || parseCidr(source) !== null,
      ),
    )
    .default([]),
  maxConnections: autoOr(1_000_000),
  maxConnectionsPerAccount: orNull(whole(1, 1_000_000)),
  maxConnectionsPerSource: orNull(whole(1, 1_000_000)),
  maxHandshakes: autoOr(1_000_000),
  maxHandshakesPerSource: whole(1, 1_000_000).default(512),
  login: section({
    maxFailuresPerSource: whole(1, 1_000_000).default(50),
    maxFailuresPerUser: whole(1, 1_000_000).default(20),
    failureWindow: duration({ min: '1s', max: '24h' }).prefault('5m'),
    maxSources: whole(100, 10_000_000).default(100_000),
  }).prefault({}),
  handshakeTimeout: duration({ min: '10ms', max: '1h' }).prefault('10s'),
  connectTimeout: duration({ min: '10ms', max: '1h' }).prefault('10s'),
  idleTimeout: duration({ min: '10ms' }).prefault('124m'),
  halfCloseTimeout: duration({ min: '10ms' }).prefault('60s'),
  engine: oneOf('auto', 'native', 'node').default('auto'),
  workers: autoOr(16),
  udp: udp.prefault({}),
  bind: bind.prefault({}),
  upstreams: z.array(upstream).max(1000).superRefine(checkExitNames).default([]),
}).superRefine(({ proxyProtocol, proxyProtocolFrom, listeners }, context) => {
  for (const [i, each] of listeners.entries()) {
    if (each.tls === undefined || !(each.proxyProtocol ?? proxyProtocol)) continue;
    const allowed =
      'no certificate together with the PROXY protocol; set proxyProtocol: false on this listener';
    report(context, ['listeners', i, 'tls'], allowed);
  }
  const isUsed = proxyProtocol || listeners.some((each) => each.proxyProtocol);
  if (!isUsed || proxyProtocolFrom.length > 0) return;
  const allowed = 'at least one address or network of a load balancer, because proxyProtocol is true';
  report(context, ['proxyProtocolFrom'], allowed);
});
