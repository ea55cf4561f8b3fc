// The HTTP servers of the admin API, one per address: their limits, TLS, answers to malformed HTTP, and graceful close.
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { TlsPair } from '../../config.js';
import { REFUSALS } from '../answer.js';
import type { Connection, ConnectionDeps, ConnectionLimits, UploadLimits } from './connections.js';
import { createConnections, createUploads, isUnderWay } from './connections.js';

const LIMITS = {
  /** Time from the first byte of a connection or request to the end of its head. */
  headersTimeout: 10_000,
  /** Off: connections.ts bounds the rate of a body instead of its duration. */
  requestTimeout: 0,
  keepAliveTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  /** Interval in which Node looks for requests that exceeded their time. */
  connectionsCheckingInterval: 2_000,
};
/** Time for requests in progress after `close` was called. */
const CLOSE_GRACE_MS = 5_000;

export interface HttpServersOptions {
  /** null: plain HTTP. */
  readonly tls: TlsPair | null;
  /** TLS only: time to the first byte, and from then to the end of the handshake. */
  readonly handshakeTimeoutMs: number;
  readonly connections: ConnectionLimits & UploadLimits;
}

export function createHttpServers(
  handle: RequestListener,
  { tls: firstTls, handshakeTimeoutMs, connections: limits }: HttpServersOptions,
  deps: ConnectionDeps,
) {
  const servers: Server[] = [];
  const connections = createConnections(limits, deps);
  /** By the socket that carries requests. */
  const bySocket = new WeakMap<Socket, Connection>();
  /** Connections in their TLS handshake, by their two endpoints. */
  const handshakes = new Map<string, Connection>();
  const uploads = createUploads(limits, ({ socket }) => cutBody(socket));
  let tls = firstTls;
  let isClosing = false;

  /** Creates a server that does not listen yet. `close` closes it too. */
  function create(handleRequest: RequestListener = handle): Server {
    const answer = answerBy(handleRequest);
    const server = tls ? createTlsServer(tls, handshakeTimeoutMs, answer) : createServer(LIMITS, answer);
    // Check the bounds before Node allocates anything for the connection.
    const begin = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (raw: Socket) => {
      const connection = connections.admit(raw);
      if (!connection) return;
      if (tls) awaitHandshake(connection);
      else serveOn(raw, connection);
      for (const listener of begin) listener.call(server, raw);
    });
    server.on('secureConnection', (socket: Socket) => {
      const connection = handshakes.get(endsOf(socket));
      handshakes.delete(endsOf(socket));
      if (connection) serveOn(socket, connection);
      else socket.destroy();
    });
    server.timeout = limits.idleTimeoutMs;
    server.on('timeout', cutStalled);
    server.on('clientError', (err: NodeJS.ErrnoException, socket: Socket) => {
      // No response is possible before the end of the handshake.
      if (bySocket.has(socket)) answerMalformed(err, socket);
      else socket.destroy();
    });
    servers.push(server);
    return server;
  }

  const answerBy =
    (handleRequest: RequestListener): RequestListener =>
    (req, res) => {
      const connection = bySocket.get(req.socket);
      if (connection) Object.assign(connection, { req, res });
      // Callers of webhooks and players are outside the whitelist. Their connections stay open.
      const isRefused = connection?.isOutside && !deps.isOpenPath(req.url ?? '');
      if (isClosing || isRefused) res.setHeader('Connection', 'close');
      uploads.watch(req);
      handleRequest(req, res);
    };

  /** Sets the socket that carries the requests of a connection. */
  function serveOn(socket: Socket, connection: Connection): void {
    connection.socket = socket;
    bySocket.set(socket, connection);
  }

  function awaitHandshake(connection: Connection): void {
    const ends = endsOf(connection.raw);
    handshakes.set(ends, connection);
    connection.raw.once('close', () => {
      if (handshakes.get(ends) === connection) handshakes.delete(ends);
    });
  }

  /** Called when a connection was idle for `idleTimeoutMs`. */
  function cutStalled(socket: Socket): void {
    const connection = bySocket.get(socket);
    const isBodyExpected = connection?.req?.complete === false;
    const isHandlerBusy =
      connection && isUnderWay(connection) && !isBodyExpected && socket.writableLength === 0;
    if (isHandlerBusy) return;
    if (isBodyExpected) cutBody(socket);
    else socket.destroy();
  }

  function cutBody(socket: Socket): void {
    if (bySocket.get(socket)?.res?.headersSent) socket.destroy();
    else answerMalformed(TOO_SLOW, socket);
  }

  /** Accepts nothing new, waits at most 5 s for responses in progress, then closes their connections. */
  async function close(): Promise<void> {
    isClosing = true;
    uploads.close();
    for (const server of servers) server.close();
    for (const connection of connections.all()) {
      if (!isUnderWay(connection)) connection.raw.destroy();
      else if (!connection.res?.headersSent) connection.res?.setHeader('Connection', 'close');
      else connection.res.once('finish', () => connection.socket?.destroySoon());
    }
    const remaining = [...connections.all()];
    const cut = setTimeout(() => {
      for (const { raw } of remaining) raw.destroy();
    }, CLOSE_GRACE_MS);
    await Promise.all(remaining.map(({ raw }) => ended(raw)));
    clearTimeout(cut);
  }

  return {
    create,
    /** Sets the certificate of new connections. It has no effect on plain HTTP. */
    setTls(next: TlsPair): void {
      tls = next;
      for (const server of servers)
        if (server instanceof TlsServer) server.setSecureContext(secureContext(next));
    },
    close,
  };
}

/** The first byte of a TLS connection: a record of the handshake (RFC 8446 §5.1). */
const HANDSHAKE_RECORD = 0x16;

/**
 * Creates a server with TLS 1.2 and later. Its `connection` event has the socket before the handshake, its `secureConnection` event
 * the socket that carries requests.
 * @param handshakeTimeoutMs time to the first byte, and from then to the end of the handshake
 */
function createTlsServer(tls: TlsPair, handshakeTimeoutMs: number, handle: RequestListener): TlsServer {
  const server = createHttpsServer(
    { ...LIMITS, ...secureContext(tls), handshakeTimeout: handshakeTimeoutMs },
    handle,
  );
  // Node's listener starts the handshake, after which plain HTTP can no longer be answered. Check the first byte before that.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      if (first[0] !== HANDSHAKE_RECORD) return answerAndClose(socket, BAD_REQUEST, 'text/plain', PLAIN);
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(first);
      for (const listener of begin) listener.call(server, socket);
    });
  });
  return server;
}

/** The part of the TLS options that changes with the certificate, for `setSecureContext`. */
function secureContext({ cert, key }: TlsPair): SecureContextOptions {
  return { cert, key: key.reveal(), minVersion: 'TLSv1.2' };
}

/** Returns the same text for a raw socket and for the TLS socket above it. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** Node's own code for a request that takes too long. */
const TOO_SLOW = Object.assign(new Error('the request body arrives too slowly'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
});

const MALFORMED_STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers malformed, oversized and slow requests in the account API's form, and closes the connection. */
function answerMalformed(err: NodeJS.ErrnoException, socket: Socket): void {
  if (err.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = MALFORMED_STATUS[err.code ?? ''] ?? BAD_REQUEST;
  answerAndClose(socket, status, 'application/json', JSON.stringify(REFUSALS['malformed-request'].text));
}

const BAD_REQUEST = '400 Bad Request';
const PLAIN = 'This port speaks HTTPS: use https:// instead of http://.\n';

function answerAndClose(socket: Socket, status: string, type: string, body: string): void {
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}; charset=utf-8`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
