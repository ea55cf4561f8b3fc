// The connections of the node engine: outgoing, accepted, or adopted as descriptors; and its listeners.
import { chmodSync } from 'node:fs';
import { createServer, connect as dial, type ListenOptions as NodeListenOptions, Socket } from 'node:net';
import { type Endpoint, withoutMapping } from '../../../core/addresses/ip.js';
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

/** For BIND. */
export function listen(
  { address, port, onConnection, end }: ListenOptions,
  done: (result: ListenResult) => void,
): void {
  const code = unsupported(end);
  if (code !== null) return done({ ok: false, code });
  start({ host: address, port, ipv6Only: address.includes(':') }, onConnection, done);
}

/** For players. Node closes a descriptor with its listener, so where other workers accept from it too, it must be a duplicate. */
export function serve(
  { fd, host, port, path, mode, isDualStack }: ListenerSpec,
  onConnection: (stream: Stream) => void,
  done: (result: ListenResult) => void,
): void {
  const here = path === null ? { host, port, ipv6Only: host.includes(':') && !isDualStack } : { path };
  const where = { ...(fd === null ? here : { fd }), keepAlive: true, isUnix: path !== null };
  start(where, onConnection, (result) => {
    if (result.ok && path !== null && fd === null) chmodSync(path, mode);
    done(result);
  });
}

interface Listening extends NodeListenOptions {
  readonly fd?: number;
  readonly isUnix?: boolean;
  /** Of accepted connections. */
  readonly keepAlive?: boolean;
}

function start(
  { keepAlive = false, isUnix = false, ...where }: Listening,
  onConnection: (stream: Stream) => void,
  done: (result: ListenResult) => void,
): void {
  const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true, keepAlive };
  const server = createServer(options, (socket) => {
    const peer = remoteEndpoint(socket);
    // The connection is closed already, so its address is unknown.
    if (!isUnix && peer.address === '') socket.destroy();
    else onConnection(new NodeStream(socket, peer));
  });
  const failed = (error: NodeJS.ErrnoException): void => done({ ok: false, code: codeOf(error) });
  server.once('error', failed);
  server.listen({ ...where, backlog: BACKLOG, exclusive: true }, () => {
    // Errors of accept (EMFILE) lose one connection; the listener continues.
    server.off('error', failed).on('error', () => {});
    const bound = server.address();
    const { host = '', port = 0, path = host } = where;
    const isInternet = bound !== null && typeof bound !== 'string';
    const address = isInternet ? withoutMapping(bound.address) : path;
    const local = { address, port: isInternet ? bound.port : port };
    done({ ok: true, local, close: () => void server.close() });
  });
}

export function adoptSocket(fd: number): Stream {
  const socket = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true });
  socket.pause();
  socket.setNoDelay(true);
  return new NodeStream(socket, remoteEndpoint(socket));
}
