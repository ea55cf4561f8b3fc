// The connections of the node engine: outgoing, accepted, or adopted as descriptors; and its listeners.
import { chmodSync } from 'node:fs';
import {
  createServer,
  connect as dial,
  type ListenOptions as NodeListenOptions,
  type Server,
  Socket,
} from 'node:net';
import { type Endpoint, withoutMapping } from '../../../core/ip.js';
import type { ListenerSpec } from '../../messages.js';
import type { Attempt, ConnectListener, ListenOptions, ListenResult, Stream } from '../io.js';
import type { LocalEnd } from '../local-end.js';
import { codeOf, NodeStream, remoteEndpoint } from './stream.js';

/** Maximum number of connections that wait to be accepted; the system may allow fewer (net.core.somaxconn). */
const BACKLOG = 4096;

/** The code for what Node cannot set on a socket, of the ends of exits; null: it can. */
export function unsupported(end: LocalEnd | null | undefined): string | null {
  return end && (end.isFree || end.interface !== null || end.mark !== null) ? 'EOPNOTSUPP' : null;
}

export function connect(to: Endpoint, listener: ConnectListener, end?: LocalEnd): Attempt {
  const code = unsupported(end);
  if (code !== null) {
    const failing = setImmediate(() => listener.onFailed(code));
    return { cancel: () => clearImmediate(failing) };
  }
  const socket = dial({
    host: to.address,
    port: to.port,
    allowHalfOpen: true,
    noDelay: true,
    ...(end?.address ? { localAddress: end.address } : {}),
  });
  // The stream begins paused.
  socket.pause();
  let isPending = true;
  const onError = (error: NodeJS.ErrnoException): void => {
    if (isPending) listener.onFailed(codeOf(error));
    isPending = false;
  };
  socket.once('error', onError).once('connect', () => {
    if (!isPending) return;
    isPending = false;
    socket.off('error', onError);
    listener.onConnected(new NodeStream(socket, to));
  });
  return {
    cancel() {
      if (!isPending) return;
      isPending = false;
      socket.destroy();
    },
  };
}

export function listen(
  { address, port, onConnection, end }: ListenOptions,
  done: (result: ListenResult) => void,
): void {
  const refused = unsupported(end);
  if (refused !== null) return done({ ok: false, code: refused });
  const server = createListener((socket) => {
    const peer = remoteEndpoint(socket);
    // The connection is closed already, so its address is unknown.
    if (peer.address === '') socket.destroy();
    else onConnection(new NodeStream(socket, peer));
  });
  start(server, { host: address, port, ipv6Only: address.includes(':') }, (code) => {
    if (code !== null) return done({ ok: false, code });
    const bound = server.address();
    const local =
      bound === null || typeof bound === 'string'
        ? { address, port }
        : { address: withoutMapping(bound.address), port: bound.port };
    done({ ok: true, local, close: () => void server.close() });
  });
}

/**
 * Accepts from a listening socket, which Node closes when `close` is called or the thread ends. If other workers accept from the
 * socket too, `fd` must be a duplicate.
 */
export function acceptFrom(fd: number, onConnection: (stream: Stream) => void): { close(): void } {
  const server = createListener((socket) => {
    const peer = remoteEndpoint(socket);
    // Connections of Unix sockets have no addresses.
    if (peer.address === '' && socket.localAddress !== undefined) socket.destroy();
    else onConnection(new NodeStream(socket, peer));
  });
  start(server, { fd }, ignore);
  return { close: () => void server.close() };
}

export function adoptSocket(fd: number): Stream {
  const socket = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true });
  socket.pause();
  socket.setNoDelay(true);
  return new NodeStream(socket, remoteEndpoint(socket));
}

function createListener(onConnection: (socket: Socket) => void, keepAlive = false): Server {
  return createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true, keepAlive }, onConnection);
}

function start(
  server: Server,
  where: NodeListenOptions & { fd?: number },
  done: (code: string | null) => void,
): void {
  const onError = (error: NodeJS.ErrnoException): void => done(codeOf(error));
  server.once('error', onError);
  server.listen({ ...where, backlog: BACKLOG, exclusive: true }, () => {
    // Errors of accept (EMFILE) lose one connection; the listener continues.
    server.off('error', onError).on('error', ignore);
    done(null);
  });
}

function ignore(): void {}

/** For the listeners of players: opens the socket of `spec`, or accepts from its descriptor. */
export function listenNode(
  { fd, host, port, path, mode, isDualStack }: ListenerSpec,
  onConnection: (stream: Stream) => void,
  done: (result: { address: string; port: number; close(): void } | { code: string }) => void,
): void {
  const server = createListener((socket) => {
    const peer = remoteEndpoint(socket);
    // The connection is closed already, so its address is unknown.
    if (path === null && peer.address === '') socket.destroy();
    else onConnection(new NodeStream(socket, peer));
  }, true);
  const here = path === null ? { host, port, ipv6Only: host.includes(':') && !isDualStack } : { path };
  // Node closes an open descriptor together with the server.
  start(server, fd === null ? here : { fd }, (code) => {
    if (code !== null) return done({ code });
    if (path !== null && fd === null) chmodSync(path, mode);
    const bound = server.address();
    const local = bound === null || typeof bound === 'string' ? { address: path ?? host, port } : bound;
    done({
      address: path === null ? withoutMapping(local.address) : local.address,
      port: local.port,
      close: () => void server.close(),
    });
  });
}
