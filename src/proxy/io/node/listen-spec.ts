// The players' listeners of the node driver: sockets that it opens itself, or open descriptors.
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { withoutMapping } from '../../../core/ip.js';
import type { ListenerSpec } from '../../messages.js';
import type { Stream } from '../io.js';
import { codeOf, NodeStream, remoteEndpoint } from './stream.js';

const BACKLOG = 4096;

type Result = { address: string; port: number; close(): void } | { code: string };

export function listenNode(
  { fd, host, port, path, mode, isDualStack }: ListenerSpec,
  onConnection: (stream: Stream) => void,
  done: (result: Result) => void,
): void {
  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, pauseOnConnect: true };
  const server = createServer(options, (socket) => {
    const peer = remoteEndpoint(socket);
    // The connection is closed already, so its address is unknown.
    if (path === null && peer.address === '') socket.destroy();
    else onConnection(new NodeStream(socket, peer));
  });
  const onError = (error: NodeJS.ErrnoException): void => done({ code: codeOf(error) });
  server.once('error', onError);
  const here = path === null ? { host, port, ipv6Only: host.includes(':') && !isDualStack } : { path };
  // Node closes an open descriptor together with the server.
  const where = fd === null ? here : { fd };
  server.listen({ ...where, backlog: BACKLOG, exclusive: true }, () => {
    // Errors of accept (EMFILE) lose one connection; the listener continues.
    server.off('error', onError).on('error', () => {});
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
