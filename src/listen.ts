// Opening listeners: `localhost` is both loopback addresses, port 0 is the same free port on every address.
import type { AddressInfo, Server } from 'node:net';
import { StartError } from './core/errors.js';

export interface Listening {
  /** `127.0.0.1:1080`, `[::1]:1080`, in the order of the configuration. */
  readonly addresses: readonly string[];
  readonly endpoints: readonly { readonly address: string; readonly port: number }[];
  /** Stops accepting; open connections stay. */
  close(): void;
}

export interface ListenOptions {
  /** What listens, as the configuration names it: `socks`, `admin`. For error messages. */
  readonly name: string;
  readonly hosts: readonly string[];
  /** 0 picks a free port. */
  readonly port: number;
  readonly createServer: () => Server;
}

/** The system found a port on one address that another address does not have free: how often to pick anew. */
const PICKS = 10;
const LOOPBACK = ['127.0.0.1', '::1'];
/** The machine does not have this family or address at all. */
const MISSING_FAMILY = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Opens one listener a host. Throws StartError (`port-in-use`, `cannot-listen`) after closing what it had opened. */
export async function listenOn(options: ListenOptions): Promise<Listening> {
  for (let pick = 1; ; pick += 1) {
    const result = await listenOnce(options);
    if (result.ok) return result.listening;
    const mayPickAgain = options.port === 0 && result.error.code === 'EADDRINUSE' && pick < PICKS;
    if (!mayPickAgain) throw explain(options, result.host, result.port, result.error);
  }
}

type Attempt =
  | { readonly ok: true; readonly listening: Listening }
  | {
      readonly ok: false;
      readonly host: string;
      readonly port: number;
      readonly error: NodeJS.ErrnoException;
    };

async function listenOnce({ hosts, port: wanted, createServer }: ListenOptions): Promise<Attempt> {
  const servers: Server[] = [];
  const endpoints: AddressInfo[] = [];
  const close = (): void => {
    for (const server of servers) server.close();
  };
  let port = wanted;
  for (const { host, isOptional } of expand(hosts)) {
    const server = createServer();
    const error = await open(server, host, port, hosts.includes('0.0.0.0'));
    if (error) {
      if (isOptional && MISSING_FAMILY.has(error.code ?? '')) continue;
      close();
      return { ok: false, host, port, error };
    }
    servers.push(server);
    const endpoint = server.address() as AddressInfo;
    endpoints.push(endpoint);
    port = endpoint.port;
  }
  return { ok: true, listening: { addresses: endpoints.map(format), endpoints, close } };
}

/** `localhost` as both loopback addresses, of which the second may be missing. */
function expand(hosts: readonly string[]): { host: string; isOptional: boolean }[] {
  const named = hosts.flatMap((host) => (host === 'localhost' ? LOOPBACK : [host]));
  return [...new Set(named)].map((host) => ({
    host,
    isOptional: host === '::1' && hosts.includes('localhost'),
  }));
}

function open(
  server: Server,
  host: string,
  port: number,
  besideIpv4: boolean,
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve(error);
    server.once('error', failed);
    // `::` alone takes IPv4 too; beside `0.0.0.0` it must not, or one of the two would find the port taken.
    server.listen({ host, port, ipv6Only: host !== '::' || besideIpv4, backlog: 4096 }, () => {
      server.off('error', failed);
      resolve(null);
    });
  });
}

function format({ address, port }: AddressInfo): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function explain(
  { name }: ListenOptions,
  host: string,
  port: number,
  cause: NodeJS.ErrnoException,
): StartError {
  const where = format({ address: host, port, family: '' });
  if (cause.code === 'EADDRINUSE') {
    const todo = `Stop that program, or set ${name}.port to another port (0 picks a free one).`;
    return new StartError('port-in-use', `${name}: ${where} is in use by another program. ${todo}`, {
      cause,
    });
  }
  if (cause.code === 'EACCES') {
    const todo = `Ports below 1024 need CAP_NET_BIND_SERVICE; or set ${name}.port to a higher one.`;
    return new StartError('cannot-listen', `${name}: not permitted to listen on ${where}. ${todo}`, {
      cause,
    });
  }
  const todo = `Set ${name}.host to an address of this machine.`;
  return new StartError('cannot-listen', `${name}: cannot listen on ${where} (${cause.code}). ${todo}`, {
    cause,
  });
}
