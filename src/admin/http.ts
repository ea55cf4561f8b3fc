// The servers of the management plane, one an address: their limits, what they answer to what is not HTTP, their end.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { REFUSALS } from './answer.js';
import { createTlsServer, secureContext, type Tls } from './tls.js';

const LIMITS = {
  /** From the first byte of a connection or request to the end of its head. */
  headersTimeout: 10_000,
  /** To the end of its body. */
  requestTimeout: 30_000,
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
}

export function createHttpServers(
  handle: RequestListener,
  { tls: firstTls, handshakeTimeoutMs }: HttpServersOptions,
): HttpServers {
  const servers: Server[] = [];
  /** Every connection that requests may come on, with the newest answer on it. */
  const sockets = new Map<Socket, ServerResponse | null>();
  /** Connections before the end of their TLS handshake, by their ends. */
  const handshakes = new Map<string, Socket>();
  let tls = firstTls;
  let isClosing = false;

  function create(): Server {
    const server = tls
      ? createTlsServer(LIMITS, tls, handshakeTimeoutMs, answer)
      : createServer(LIMITS, answer);
    if (tls) {
      server.on('connection', awaitHandshake);
      server.on('secureConnection', (socket: Socket) => {
        handshakes.delete(endsOf(socket));
        take(socket);
      });
    } else {
      server.on('connection', take);
    }
    server.on('clientError', (err: NodeJS.ErrnoException, socket: Socket) => {
      // Nothing can be said before the handshake is over.
      if (sockets.has(socket)) answerUnreadable(err, socket);
      else socket.destroy();
    });
    servers.push(server);
    return server;
  }

  const answer: RequestListener = (req, res) => {
    sockets.set(req.socket, res);
    if (isClosing) res.setHeader('Connection', 'close');
    handle(req, res);
  };

  function take(socket: Socket): void {
    sockets.set(socket, null);
    socket.once('close', () => sockets.delete(socket));
  }

  function awaitHandshake(socket: Socket): void {
    const ends = endsOf(socket);
    handshakes.set(ends, socket);
    socket.once('close', () => {
      if (handshakes.get(ends) === socket) handshakes.delete(ends);
    });
  }

  async function close(): Promise<void> {
    isClosing = true;
    for (const server of servers) server.close();
    for (const socket of handshakes.values()) socket.destroy();
    for (const [socket, res] of sockets) {
      // Finished: handed to the system as a whole.
      if (res === null || res.writableFinished) socket.destroy();
      else if (!res.headersSent) res.setHeader('Connection', 'close');
    }
    const cut = setTimeout(() => {
      for (const socket of sockets.keys()) socket.destroy();
    }, CLOSE_GRACE_MS);
    await Promise.all(Array.from(sockets.keys(), ended));
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
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

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
