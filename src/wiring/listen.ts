// Opening listeners: `localhost` is both loopback addresses, port 0 is the same free port on every address.
import { chmodSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type Server } from 'node:net';
import { StartError } from '../core/errors.js';
import { formatHostPort } from '../core/ip.js';

export interface Listening {
  /** `127.0.0.1:1080`, `[::1]:1080`, `unix:/run/socks.sock`, in the order of the configuration. */
  readonly addresses: readonly string[];
  /** Those that have a port. */
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

export interface ListenOnPathOptions {
  /** As in ListenOptions. */
  readonly name: string;
  /** At most 107 bytes (unix(7)). */
  readonly path: string;
  /** Permissions of the socket: who may write to it may connect. */
  readonly mode: number;
  readonly createServer: () => Server;
}

/**
 * Opens a listener on a Unix socket. One that a crash has left behind is replaced, one that is in use never is.
 * Throws StartError (`path-in-use`, `cannot-listen`).
 */
export async function listenOnPath({
  name,
  path,
  mode,
  createServer,
}: ListenOnPathOptions): Promise<Listening> {
  let server = createServer();
  let error = await openPath(server, path, mode);
  if (error?.code === 'EADDRINUSE' && !(await isAnswered(path))) {
    server = createServer();
    error = removeFile(path) ?? (await openPath(server, path, mode));
  }
  if (error?.code === 'EADDRINUSE') {
    const todo = `Stop that program, or set ${name}.path to another path.`;
    throw new StartError('path-in-use', `${name}: ${path} is in use by another program. ${todo}`, {
      cause: error,
    });
  }
  if (error) {
    const todo = `Set ${name}.path to a path in a folder that exists and may be written to.`;
    throw new StartError('cannot-listen', `${name}: cannot listen on ${path} (${error.code}). ${todo}`, {
      cause: error,
    });
  }
  return { addresses: [`unix:${path}`], endpoints: [], close: () => void server.close() };
}

function openPath(server: Server, path: string, mode: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    // Nobody may connect before the permissions are what they shall be.
    const umask = process.umask(0o777);
    server.listen({ path, backlog: 4096 }, () => {
      server.off('error', resolve);
      chmodSync(path, mode);
      resolve(null);
    });
    process.umask(umask);
  });
}

/** Whether a program takes connections there. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

function removeFile(path: string): NodeJS.ErrnoException | null {
  try {
    unlinkSync(path);
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
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
  return formatHostPort(address, port);
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
