// Opening listeners: `localhost` is both loopback addresses, port 0 is the same free port on every address. How a socket is
// opened is the caller's: by node:net (admin API), by direct system calls or in a worker (players).
import { chmodSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { StartError } from '../core/errors.js';
import { formatHostPort } from '../core/ip.js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface Listening {
  /** `127.0.0.1:1080`, `[::1]:1080`, `unix:/run/socks.sock`, in the order of the configuration. */
  readonly addresses: readonly string[];
  /** Those that have a port. */
  readonly endpoints: readonly Endpoint[];
  /** Stops accepting; open connections stay. */
  close(): void;
}

/** A system error code such as EADDRINUSE, or the open socket. */
export type Opened = { readonly code: string } | (Endpoint & { close(): void });

export interface ListenOptions {
  /** What listens, as the configuration names it: `socks`, `admin`. For error messages. */
  readonly name: string;
  readonly hosts: readonly string[];
  /** 0 picks a free port. */
  readonly port: number;
  /** Opens a socket that listens. `isDualStack`: one for `::` that takes IPv4 too. */
  readonly open: (where: Endpoint, isDualStack: boolean) => Promise<Opened>;
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
    const mayPickAgain = options.port === 0 && result.code === 'EADDRINUSE' && pick < PICKS;
    if (!mayPickAgain) throw explain(options, result);
  }
}

type Attempt =
  | { readonly ok: true; readonly listening: Listening }
  | { readonly ok: false; readonly host: string; readonly port: number; readonly code: string };

async function listenOnce({ hosts, port: wanted, open }: ListenOptions): Promise<Attempt> {
  const opened: (Endpoint & { close(): void })[] = [];
  const close = (): void => {
    for (const each of opened) each.close();
  };
  let port = wanted;
  for (const { host, isOptional } of expand(hosts)) {
    // `::` alone takes IPv4 too; beside `0.0.0.0` it must not, or one of the two would find the port taken.
    const result = await open({ address: host, port }, host === '::' && !hosts.includes('0.0.0.0'));
    if ('code' in result) {
      if (isOptional && MISSING_FAMILY.has(result.code)) continue;
      close();
      return { ok: false, host, port, code: result.code };
    }
    opened.push(result);
    port = result.port;
  }
  const addresses = opened.map((each) => formatHostPort(each.address, each.port));
  return { ok: true, listening: { addresses, endpoints: opened, close } };
}

/** Opens a node:net server as `ListenOptions.open` asks for it. */
export function openServer(
  server: Server,
  { address, port }: Endpoint,
  isDualStack: boolean,
): Promise<Opened> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve({ code: error.code ?? 'UNKNOWN' });
    server.once('error', failed);
    server.listen(
      { host: address, port, ipv6Only: address.includes(':') && !isDualStack, backlog: 4096 },
      () => {
        server.off('error', failed);
        const bound = server.address();
        const local = bound === null || typeof bound === 'string' ? { address, port } : bound;
        resolve({ address: local.address, port: local.port, close: () => void server.close() });
      },
    );
  });
}

export interface ListenOnPathOptions {
  /** As in ListenOptions. */
  readonly name: string;
  /** At most 107 bytes (unix(7)). */
  readonly path: string;
  readonly open: (path: string) => Promise<{ readonly code: string } | { close(): void }>;
}

/**
 * Opens a listener on a Unix socket. One that a crash has left behind is replaced, one that is in use never is.
 * Throws StartError (`path-in-use`, `cannot-listen`).
 */
export async function listenOnPath({ name, path, open }: ListenOnPathOptions): Promise<Listening> {
  let result = await open(path);
  if ('code' in result && result.code === 'EADDRINUSE' && !(await isAnswered(path))) {
    const code = removeFile(path);
    result = code === null ? await open(path) : { code };
  }
  if (!('code' in result)) return { addresses: [`unix:${path}`], endpoints: [], close: result.close };
  if (result.code === 'EADDRINUSE') {
    const todo = `Stop that program, or set ${name}.path to another path.`;
    throw new StartError('path-in-use', `${name}: ${path} is in use by another program. ${todo}`);
  }
  const todo = `Set ${name}.path to a path in a folder that exists and may be written to.`;
  throw new StartError('cannot-listen', `${name}: cannot listen on ${path} (${result.code}). ${todo}`);
}

/** Opens a node:net server as `ListenOnPathOptions.open` asks for it. `mode`: who may write to the socket may connect. */
export function openServerOnPath(
  server: Server,
  path: string,
  mode: number,
): Promise<{ readonly code: string } | { close(): void }> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve({ code: error.code ?? 'UNKNOWN' });
    server.once('error', failed);
    // Nobody may connect before the permissions are what they shall be.
    const umask = process.umask(0o777);
    server.listen({ path, backlog: 4096 }, () => {
      server.off('error', failed);
      chmodSync(path, mode);
      resolve({ close: () => void server.close() });
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

/** The system error code; null when it is removed. */
function removeFile(path: string): string | null {
  try {
    unlinkSync(path);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
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

function explain(
  { name }: ListenOptions,
  { host, port, code }: { readonly host: string; readonly port: number; readonly code: string },
): StartError {
  const where = formatHostPort(host, port);
  if (code === 'EADDRINUSE') {
    const todo = `Stop that program, or set ${name}.port to another port (0 picks a free one).`;
    return new StartError('port-in-use', `${name}: ${where} is in use by another program. ${todo}`);
  }
  if (code === 'EACCES') {
    const todo = `Ports below 1024 need CAP_NET_BIND_SERVICE; or set ${name}.port to a higher one.`;
    return new StartError('cannot-listen', `${name}: not permitted to listen on ${where}. ${todo}`);
  }
  const todo = `Set ${name}.host to an address of this machine.`;
  return new StartError('cannot-listen', `${name}: cannot listen on ${where} (${code}). ${todo}`);
}
