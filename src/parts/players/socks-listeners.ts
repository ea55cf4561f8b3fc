// The players' listeners: that of `socks.host` and `socks.port` (or the sockets from systemd), and those of `socks.listeners`.
import type { Config } from '../../config.js';
import type { PublicAddress } from '../../core/accounts/player/proxy-link.js';
import { type Endpoint, formatHostPort } from '../../core/addresses/ip.js';
import type { NodeAddresses, PlayerListener } from '../../core/nodes/nodes.js';
import type { Libc } from '../../proxy/io/native/libc.js';
import { adoptListener } from '../../proxy/io/native/listen.js';
import type { NewListener } from '../../proxy/plane/listeners.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { GivenSocket } from '../../systemd/sockets.js';
import { type Listening, listenOn, listenOnPath, notListening, type Opened } from '../listeners/listen.js';
import type { ListeningSockets, OpenedSocket, SocketRecord } from '../listeners/sockets.js';
import type { TlsListenersPart } from './tls-listeners.js';

/** What a listener serves, and how its connections begin. */
type Service = Pick<NewListener, 'hasProxyHeader' | 'isFromTls' | 'protocols'>;

const DEFAULT_MODE = '0660';
/** The mode of the Unix sockets between threads of this process. */
const PRIVATE_MODE = 0o600;

type SocksConfig = Pick<
  Config['socks'],
  'host' | 'port' | 'listeners' | 'proxyProtocol' | 'protocols' | 'udp'
>;
type Plane = Pick<ProxyPlane, 'listeners'>;

interface SocksListenersOptions {
  readonly config: { readonly socks: SocksConfig };
  readonly plane: Plane & Pick<ProxyPlane, 'ownPorts' | 'drained'>;
  readonly libc: Libc | null;
  /** The sockets are in the main thread, so that they outlive a worker and this process; null, without libc: the first worker opens them. */
  readonly sockets: ListeningSockets | null;
  /** Sockets from systemd, which replace `socks.host` and `socks.port`. */
  readonly given: readonly GivenSocket[];
  readonly tls: Pick<TlsListenersPart, 'open'>;
}

/** `start` opens all listeners or none: on failure it closes the open ones and throws StartError. */
export function createSocksListenersPart(options: SocksListenersOptions) {
  let listening: OpenedAll | null = null;
  const close = (): void => listening?.close();
  return {
    name: 'socks listeners',
    /** As `Listening.addresses`; empty before `start`. */
    get addresses() {
      return listening?.addresses ?? [];
    },
    /** Those on TCP without a PROXY header, and the main one. */
    get listeners() {
      return listening?.listeners ?? [];
    },
    /** What other nodes write into links; null: no public host is set. */
    reachedAt({ host, port }: PublicAddress): NodeAddresses['players'] {
      const listeners = listening?.listeners ?? [];
      const [first] = listeners;
      return host === null || !first ? null : { host, port: port ?? first.port, listeners };
    },
    async start() {
      listening = await openAll(options);
      for (const { port } of listening.endpoints) options.plane.ownPorts.add('tcp-listener', port);
    },
    async drain() {
      // A worker that still had one in its epoll set would be woken for it until its end: the service manager keeps it open.
      await options.plane.drained;
      close();
    },
    stop: close,
  };
}

/** A listener of the configuration. `index`: its place in `socks.listeners`; -1 for the one of `socks` itself. */
interface ConfiguredListener extends Partial<SocksConfig['listeners'][number]> {
  readonly name: string;
  readonly index: number;
}

interface OpenedAll extends Listening {
  readonly listeners: readonly PlayerListener[];
}

async function openAll(options: SocksListenersOptions): Promise<OpenedAll> {
  const { socks } = options.config;
  const given = options.given.filter(({ use }) => use === 'socks');
  const opened: (Listening & { readonly of: ConfiguredListener })[] = [];
  // Close each only once: the system reuses the number of a closed descriptor.
  const close = (): void => {
    for (const listening of opened.splice(0)) listening.close();
  };
  const main: ConfiguredListener = { name: 'socks', index: -1, host: socks.host, port: socks.port };
  const further = socks.listeners.map(
    (listener, index): ConfiguredListener => ({ ...listener, name: `socks.listeners[${index}]`, index }),
  );
  try {
    for (const each of given)
      opened.push({ ...(await adoptGiven(options, each, serviceOf(socks, {}))), of: main });
    for (const listener of given.length > 0 ? further : [main, ...further])
      opened.push({ ...(await openConfigured(options, listener)), of: listener });
  } catch (error) {
    close();
    throw error;
  }
  return {
    addresses: opened.flatMap(({ addresses }) => addresses),
    endpoints: opened.flatMap(({ endpoints }) => endpoints),
    listeners: opened.flatMap(({ endpoints, of }) => reachable(socks, of, endpoints)),
    close,
  };
}

/** Players come to a listener with a PROXY header through a load balancer, whose address is known of the main one only. */
function reachable(
  socks: SocksConfig,
  { index, tls, ...own }: ConfiguredListener,
  endpoints: readonly Endpoint[],
): readonly PlayerListener[] {
  const { hasProxyHeader, protocols } = serviceOf(socks, own);
  const isMain = index === -1;
  if (hasProxyHeader && !isMain) return [];
  const shared = { protocols, isTls: tls !== undefined, hasUdp: socks.udp.enabled, isMain };
  return endpoints.map(({ address, port }) => ({ address, port, ...shared }));
}

/** Opens a listener on its hosts, behind a certificate if it has one, or on its path. */
function openConfigured(
  { config, plane, sockets, tls }: SocksListenersOptions,
  listener: ConfiguredListener,
): Promise<Listening> {
  const { name, index, host: hosts = [], port = 0, path, mode = DEFAULT_MODE } = listener;
  const service = serviceOf(config.socks, listener);
  if (listener.tls !== undefined) {
    const inner = { ...service, hasProxyHeader: true, isFromTls: true };
    const openInside = (at: string): Promise<Listening> =>
      listenOnPath({ name, path: at, open: (each) => openUnix(plane, sockets, each, PRIVATE_MODE, inner) });
    return tls.open(index, { name, hosts, port }, openInside);
  }
  if (path !== undefined) {
    const permissions = Number.parseInt(mode, 8);
    const open = (at: string): Promise<Opened> => openUnix(plane, sockets, at, permissions, service);
    return listenOnPath({ name, path, open });
  }
  const open = (where: Endpoint, isDualStack: boolean): Promise<Opened> =>
    openTcp(plane, sockets, { name, ...where, isDualStack }, service);
  return listenOn({ name, hosts, port, open });
}

/** The options of a listener, with the values of `socks` as defaults. */
function serviceOf(
  socks: SocksConfig,
  own: {
    readonly proxyProtocol?: boolean | undefined;
    readonly protocols?: Service['protocols'] | undefined;
  },
): Service {
  return {
    hasProxyHeader: own.proxyProtocol ?? socks.proxyProtocol,
    isFromTls: false,
    protocols: own.protocols ?? socks.protocols,
  };
}

/** Uses a socket from systemd. The socket continues to listen when this process closes its descriptor. */
async function adoptGiven(
  { plane, libc, sockets }: SocksListenersOptions,
  given: GivenSocket,
  service: Service,
): Promise<Listening> {
  const { fd } = given;
  const found = libc ? adoptListener(libc, fd) : null;
  if (found && 'code' in found) throw notListening('socks', fd, found.code);
  const name = `fd:${fd}`;
  const spec = {
    fd,
    host: found?.local?.address ?? '',
    port: found?.local?.port ?? 0,
    path: found && found.local === null ? name : null,
    mode: 0,
    isDualStack: false,
    ...service,
  };
  let local = found?.local ?? null;
  sockets?.keepGiven(given);
  if (found) plane.listeners.acceptFrom(spec);
  else {
    const opened = await plane.listeners.listen(spec);
    if ('code' in opened) throw notListening('socks', fd, opened.code);
    if (opened.port !== 0) local = opened;
  }
  return {
    addresses: [local ? formatHostPort(local.address, local.port) : name],
    endpoints: local ? [local] : [],
    close: () => sockets?.close(fd),
  };
}

async function openTcp(
  plane: Plane,
  sockets: ListeningSockets | null,
  record: SocketRecord,
  service: Service,
): Promise<Opened> {
  const { address: host, port, isDualStack } = record;
  const spec = { fd: null, host, port, path: null, mode: 0, isDualStack, ...service };
  if (sockets === null) return openInWorker(plane, spec);
  return serve(plane, sockets, spec, sockets.openTcp(record));
}

async function openUnix(
  plane: Plane,
  sockets: ListeningSockets | null,
  path: string,
  mode: number,
  service: Service,
): Promise<Opened> {
  const spec = { fd: null, host: '', port: 0, path, mode, isDualStack: false, ...service };
  if (sockets === null) return openInWorker(plane, spec);
  return serve(plane, sockets, spec, sockets.openPath('socks', path, mode));
}

async function openInWorker(plane: Plane, spec: NewListener): Promise<Opened> {
  const opened = await plane.listeners.listen(spec);
  // The worker closes the listener when it drains.
  return 'code' in opened ? opened : { ...opened, close: () => {} };
}

function serve(plane: Plane, sockets: ListeningSockets, spec: NewListener, opened: OpenedSocket): Opened {
  if ('code' in opened) return opened;
  const { fd, local } = opened;
  plane.listeners.acceptFrom({ ...spec, fd, port: local.port });
  return { ...local, close: () => sockets.close(fd) };
}
