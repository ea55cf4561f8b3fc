// The servers of the admin API, one an address: their limits, what they answer to what is not HTTP, their end.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { REFUSALS } from './answer.js';
import {
  type Connection,
  type ConnectionLimits,
  type ConnectionUses,
  createConnections,
  isUnderWay,
} from './connections.js';
import { createTlsServer, secureContext, type Tls } from './tls.js';
import { createUploads, type UploadLimits } from './uploads.js';

const LIMITS = {
  /** From the first byte of a connection or request to the end of its head. */
  headersTimeout: 10_000,
  /** Not to the end of its body: how slowly that may come is in uploads.ts. */
  requestTimeout: 0,
  keepAliveTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  /** How often Node looks for requests that have exceeded their time. */
  connectionsCheckingInterval: 2_000,
};
/** How long requests under way may take to end once the servers close. */
const CLOSE_GRACE_MS = 5_000;

export interface HttpServers {
  /** A server that is not listening yet; it counts as one of these until `close`. */
  create(): Server;
  /** The certificate for connections from now on, where the servers speak TLS. */
  setTls(tls: Tls): void;
  /** Takes no new connections or requests, lets answers under way end for at most 5 s, then cuts. */
  close(): Promise<void>;
}

export interface HttpServersOptions {
  /** null: plain HTTP. */
  readonly tls: Tls | null;
  /** Of TLS: to the first byte, and from there to the end of the handshake. */
  readonly handshakeTimeoutMs: number;
  readonly connections: ConnectionLimits & UploadLimits;
}

export function createHttpServers(
  handle: RequestListener,
  { tls: firstTls, handshakeTimeoutMs, connections: limits }: HttpServersOptions,
  uses: ConnectionUses,
): HttpServers {
  const servers: Server[] = [];
  const connections = createConnections(limits, uses);
  /** By the socket that requests come on. */
  const bySocket = new WeakMap<Socket, Connection>();
  /** Connections before the end of their TLS handshake, by their ends. */
  const handshakes = new Map<string, Connection>();
  const uploads = createUploads(limits, ({ socket }) => cutBody(socket));
  let tls = firstTls;
  let isClosing = false;

  function create(): Server {
    const server = tls
      ? createTlsServer(LIMITS, tls, handshakeTimeoutMs, answer)
      : createServer(LIMITS, answer);
    // What is one too many is closed before anything is made for it.
    const begin = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (raw: Socket) => {
      const connection = connections.admit(raw);
      if (!connection) return;
      if (tls) awaitHandshake(connection);
      else take(raw, connection);
      for (const listener of begin) listener.call(server, raw);
    });
    server.on('secureConnection', (socket: Socket) => {
      const connection = handshakes.get(endsOf(socket));
      handshakes.delete(endsOf(socket));
      if (connection) take(socket, connection);
      else socket.destroy();
    });
    server.timeout = limits.idleTimeoutMs;
    server.on('timeout', cutStalled);
    server.on('clientError', (err: NodeJS.ErrnoException, socket: Socket) => {
      // Nothing can be said before the handshake is over.
      if (bySocket.has(socket)) answerUnreadable(err, socket);
      else socket.destroy();
    });
    servers.push(server);
    return server;
  }

  const answer: RequestListener = (req, res) => {
    const connection = bySocket.get(req.socket);
    if (connection) Object.assign(connection, { req, res });
    // Callers of webhooks are not in the whitelist, and come again.
    const isRefused = connection?.isOutside && !req.url?.startsWith('/hooks');
    if (isClosing || isRefused) res.setHeader('Connection', 'close');
    uploads.watch(req);
    handle(req, res);
  };

  function take(socket: Socket, connection: Connection): void {
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

  /** Called when nothing has moved on a connection for `idleTimeoutMs`. */
  function cutStalled(socket: Socket): void {
    const connection = bySocket.get(socket);
    const isBodyDue = connection?.req?.complete === false;
    const isAtWork = connection && isUnderWay(connection) && !isBodyDue && socket.writableLength === 0;
    if (isAtWork) return;
    if (isBodyDue) cutBody(socket);
    else socket.destroy();
  }

  function cutBody(socket: Socket): void {
    if (bySocket.get(socket)?.res?.headersSent) socket.destroy();
    else answerUnreadable(TOO_SLOW, socket);
  }

  async function close(): Promise<void> {
    isClosing = true;
    uploads.close();
    for (const server of servers) server.close();
    for (const connection of connections.all()) {
      if (!isUnderWay(connection)) connection.raw.destroy();
      else if (!connection.res?.headersSent) connection.res?.setHeader('Connection', 'close');
    }
    const left = [...connections.all()];
    const cut = setTimeout(() => {
      for (const { raw } of left) raw.destroy();
    }, CLOSE_GRACE_MS);
    await Promise.all(left.map(({ raw }) => ended(raw)));
    clearTimeout(cut);
  }

  return {
    create,
    setTls(next) {
      tls = next;
      for (const server of servers)
        if (server instanceof TlsServer) server.setSecureContext(secureContext(next));
    },
    close,
  };
}

/** The same of a connection's socket and of the one that decrypts it. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** As Node reports a request that takes too long. */
const TOO_SLOW = Object.assign(new Error('the body comes too slowly'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

const UNREADABLE_STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is not HTTP, too long or too slow gets an answer in the shape of all the others, and a closed connection. */
function answerUnreadable(err: NodeJS.ErrnoException, socket: Socket): void {
  if (err.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(REFUSALS['malformed-request'].text);
  const head = [
    `HTTP/1.1 ${UNREADABLE_STATUS[err.code ?? ''] ?? '400 Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
