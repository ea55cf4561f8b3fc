// Opens listeners. `localhost` means both loopback addresses; port 0 picks one free port for all addresses. The caller passes
// the function that opens a socket: node:net (admin API), direct system calls or a worker (players).
import { once } from 'node:events';
import { chmodSync, unlinkSync } from 'node:fs';
import { connect, type ListenOptions as NetListenOptions, type Server } from 'node:net';
import { type Endpoint, formatHostPort } from '../../core/addresses/ip.js';
import { codeOf, StartError } from '../../core/errors.js';
import type { GivenSocket } from '../../systemd/sockets.js';
import type { ListeningSockets, OpenedSocket, SocketRecord } from './sockets.js';

export interface Listening {
  /** `127.0.0.1:1080`, `[::1]:1080`, `unix:/run/socks.sock`, in the order of the configuration. */
  readonly addresses: readonly string[];
  readonly endpoints: readonly Endpoint[];
  /** Stops accepting connections; open connections continue. */
  close(): void;
}

/** A system error code such as EADDRINUSE, or the open socket. */
export type Opened = { readonly code: string } | (Endpoint & { close(): void });

export interface ListenOptions {
  /** The configuration key of the listener (`socks`, `admin`), for error messages. */
  readonly name: string;
  readonly hosts: readonly string[];
  /** 0 picks a free port. */
  readonly port: number;
  /** Opens a listening socket. `isDualStack`: accept IPv4 on `::` too. */
  readonly open: (where: Endpoint, isDualStack: boolean) => Promise<Opened>;
}

const BACKLOG = 4096;
/** How often to pick another port when a port is free on one address but not on another. */
const PICKS = 10;
const LOOPBACK = ['127.0.0.1', '::1'];
/** The machine does not have this address family or address. */
const MISSING_FAMILY = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Opens a listener for each host. On failure closes them and throws StartError (`port-in-use`, `cannot-listen`). */
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
    // `::` accepts IPv4 too, except together with `0.0.0.0`: then the port would be in use twice.
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

/** Starts a node:net server. Returns null, or the system error code. */
async function startServer(
  server: Server,
  where: NetListenOptions & { readonly fd?: number },
): Promise<string | null> {
  // Node reads the option only for a socket that it opens itself.
  server.listen({ ...where, backlog: BACKLOG }, BACKLOG);
  return once(server, 'listening').then(() => null, codeOrUnknown);
}

const codeOrUnknown = (error: unknown): string => codeOf(error) ?? 'UNKNOWN';

/** Implements `ListenOptions.open` with a node:net server. @param sockets null: the socket cannot be handed over */
export async function openServer(
  sockets: ListeningSockets | null,
  server: Server,
  record: SocketRecord,
): Promise<Opened> {
  if (sockets) return serveOn(sockets, server, sockets.openTcp(record));
  const { address, port, isDualStack } = record;
  const ipv6Only = address.includes(':') && !isDualStack;
  const code = await startServer(server, { host: address, port, ipv6Only });
  if (code !== null) return { code };
  return { ...(boundTo(server) ?? { address, port }), close: () => void server.close() };
}

/** Lets the server have a duplicate, because it closes what it listens on. */
async function serveOn(sockets: ListeningSockets, server: Server, opened: OpenedSocket): Promise<Opened> {
  if ('code' in opened) return opened;
  const { fd, local } = opened;
  const code = await startServer(server, { fd: sockets.dup(fd) });
  const close = (): void => {
    if (code === null) server.close();
    sockets.close(fd);
  };
  if (code === null) return { ...local, close };
  close();
  return { code };
}

/** Starts a node:net server on an open listening descriptor from systemd. @throws StartError `cannot-listen` */
export async function openServerOn(
  server: Server,
  given: GivenSocket,
  sockets: ListeningSockets | null,
): Promise<Listening> {
  const { fd, use: name } = given;
  sockets?.keepGiven(given);
  const code = await startServer(server, { fd: sockets?.dup(fd) ?? fd });
  if (code !== null) throw notListening(name, fd, code);
  const bound = boundTo(server);
  return {
    addresses: [bound ? formatHostPort(bound.address, bound.port) : `fd:${fd}`],
    endpoints: bound ? [bound] : [],
    close: () => void server.close(),
  };
}

/** Null: not a TCP server. */
function boundTo(server: Server): Endpoint | null {
  const bound = server.address();
  return bound === null || typeof bound === 'string' ? null : { address: bound.address, port: bound.port };
}

export const notListening = (name: string, fd: number, code: string): StartError =>
  new StartError(
    'cannot-listen',
    `${name}: socket ${fd} from systemd is not a listening socket (${code}). Set ListenStream= in the socket unit.`,
  );

interface ListenOnPathOptions {
  /** As in ListenOptions. */
  readonly name: string;
  /** `isSocketPath` */
  readonly path: string;
  readonly open: (path: string) => Promise<{ readonly code: string } | { close(): void }>;
}

/**
 * Opens a listener on a Unix socket. Replaces a stale socket file, but not a socket that is in use.
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
  const todo = `Set ${name}.path to a path in an existing, writable folder.`;
  throw new StartError('cannot-listen', `${name}: cannot listen on ${path} (${result.code}). ${todo}`);
}

/** Implements `ListenOnPathOptions.open` with a node:net server. `mode`: users with write permission can connect. */
export async function openServerOnPath(
  sockets: ListeningSockets | null,
  server: Server,
  path: string,
  mode: number,
): Promise<{ readonly code: string } | { close(): void }> {
  if (sockets) return serveOn(sockets, server, sockets.openPath('control', path, mode));
  // No process may connect before chmod sets the permissions.
  const umask = process.umask(0o777);
  const started = startServer(server, { path });
  process.umask(umask);
  const code = await started;
  if (code !== null) return { code };
  chmodSync(path, mode);
  return { close: () => void server.close() };
}

/** Whether a program accepts connections on the socket. */
function isAnswered(path: string): Promise<boolean> {
  const probe = connect({ path });
  return once(probe, 'connect')
    .then(
      () => true,
      (error: unknown) => codeOf(error) !== 'ECONNREFUSED',
    )
    .finally(() => probe.destroy());
}

/** Returns null on success, or the system error code. */
function removeFile(path: string): string | null {
  try {
    unlinkSync(path);
    return null;
  } catch (error) {
    return codeOrUnknown(error);
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
    const todo = `Stop that program, or set ${name}.port to another port (0 picks a free port).`;
    return new StartError('port-in-use', `${name}: ${where} is in use by another program. ${todo}`);
  }
  if (code === 'EACCES') {
    const todo = `Ports below 1024 need CAP_NET_BIND_SERVICE; or set ${name}.port to a higher one.`;
    return new StartError('cannot-listen', `${name}: not permitted to listen on ${where}. ${todo}`);
  }
  const todo = `Set ${name}.host to an address of this machine.`;
  return new StartError('cannot-listen', `${name}: cannot listen on ${where} (${code}). ${todo}`);
}
