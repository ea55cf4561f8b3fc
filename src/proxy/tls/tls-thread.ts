// The TLS thread: does the handshakes of listeners with a certificate, and forwards each connection to the data plane through
// a private Unix socket, with a PROXY header that contains the client's address. It does not slow down other listeners.
import { constants } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { withoutMapping } from '../../core/addresses/ip.js';
import { writeProxyHeader } from '../protocols/proxy-header.js';
import { prioritizeThread } from '../thread-priority.js';
import { TlsHandshakes } from './handshakes.js';
import { join } from './join.js';
import type { TlsEvent, TlsListenerSpec, TlsMaterial, TlsMessage, TlsThreadStart } from './messages.js';

const BACKLOG = 4096;
/** The first byte of a TLS connection: a record of the handshake (RFC 8446 §5.1). */
const HANDSHAKE_RECORD = 0x16;

/** Renegotiation would let a client start many handshakes on one connection. */
const options = ({ cert, key }: TlsMaterial): TlsOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
});

function run(start: TlsThreadStart): void {
  const handshakes = new TlsHandshakes(start);
  const servers = new Map<number, Server>();
  const report = (event: TlsEvent): void => parentPort?.postMessage(event);
  setInterval(() => {
    const refused = handshakes.nextSecond();
    if (refused > 0) report({ kind: 'refused', handshakes: refused });
  }, 1_000);

  function listen({ id, fd, host, port, isDualStack, path, material }: TlsListenerSpec): void {
    const server = createServer({
      ...options(material),
      // ALPN (RFC 7301): the HTTP proxy supports HTTP/1; SOCKS has no protocol name.
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: start.handshakeTimeoutMs,
      allowHalfOpen: true,
      noDelay: true,
    });
    server.maxConnections = start.maxConnections;
    beginHandshakes(server, handshakes, start.handshakeTimeoutMs);
    server.on('secureConnection', (client) => forward(client, path));
    const failed = (error: NodeJS.ErrnoException): void =>
      report({ kind: 'listen-failed', id, code: error.code ?? 'UNKNOWN' });
    server.once('error', failed);
    const ipv6Only = host.includes(':') && !isDualStack;
    const where = fd === null ? { host, port, ipv6Only, exclusive: true } : { fd };
    server.listen({ ...where, backlog: BACKLOG }, BACKLOG, () => {
      // Errors of accept (EMFILE) lose one connection; the listener continues.
      server.off('error', failed).on('error', () => {});
      const bound = server.address();
      const local = bound === null || typeof bound === 'string' ? { address: host, port } : bound;
      servers.set(id, server);
      report({ kind: 'listening', id, address: withoutMapping(local.address), port: local.port });
    });
  }

  parentPort?.on('message', (message: TlsMessage) => {
    if (message.kind === 'listen') listen(message.listener);
    else if (message.kind === 'material')
      servers.get(message.id)?.setSecureContext(options(message.material));
    else servers.get(message.id)?.close();
  });
}

/** Counts and limits the handshakes of Node's TLS server. */
function beginHandshakes(server: Server, handshakes: TlsHandshakes, timeoutMs: number): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  /** By the client's address and port: Node does not report which socket a finished handshake belongs to. */
  const waiting = new Map<string, () => void>();
  const endOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (raw: Socket) => {
    const client = endOf(raw);
    raw.on('error', () => raw.destroy());
    if (!handshakes.begin(raw, raw.remoteAddress ?? '')) return void raw.destroy();
    const timer = setTimeout(() => raw.destroy(), timeoutMs);
    const over = (): void => {
      clearTimeout(timer);
      if (waiting.get(client) === over) waiting.delete(client);
      handshakes.end(raw);
    };
    waiting.set(client, over);
    raw.once('close', over);
    raw.once('data', (first: Buffer) => {
      if (first[0] !== HANDSHAKE_RECORD) return void raw.destroy();
      raw.pause();
      raw.unshift(first);
      for (const listener of begin) listener.call(server, raw);
    });
  });
  server.on('secureConnection', (client) => waiting.get(endOf(client))?.());
  server.on('tlsClientError', (_, client) => client.destroy());
}

/** Connects a client to the data plane. */
function forward(client: TLSSocket, path: string): void {
  const { remoteAddress, remotePort, localAddress, localPort } = client;
  const header = writeProxyHeader(
    { address: remoteAddress ?? '', port: remotePort ?? 0 },
    { address: localAddress ?? '', port: localPort ?? 0 },
  );
  // The client has already closed, so its address is unknown.
  if (header === null) return void client.destroy();
  const inside = connect({ path, allowHalfOpen: true });
  inside.write(header);
  join(client, inside);
}

prioritizeThread('tls');
run(workerData as TlsThreadStart);
