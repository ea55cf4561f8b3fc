// HTTPS in place of HTTP: the handshake with its limits, and an answer to plain HTTP.
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { TlsPair } from '../../config.js';

/** The first byte of a TLS connection: a record of the handshake (RFC 8446 §5.1). */
const HANDSHAKE_RECORD = 0x16;

/**
 * Creates a server with TLS 1.2 and later. Its `connection` event has the socket before the handshake, its `secureConnection` event
 * the socket that carries requests.
 * @param handshakeTimeoutMs time to the first byte, and from then to the end of the handshake
 */
export function createTlsServer(
  limits: ServerOptions,
  tls: TlsPair,
  handshakeTimeoutMs: number,
  handle: RequestListener,
): Server {
  const server = createServer(
    { ...limits, ...secureContext(tls), handshakeTimeout: handshakeTimeoutMs },
    handle,
  );
  // Node's listener starts the handshake, after which plain HTTP can no longer be answered. Check the first byte before that.
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      if (first[0] !== HANDSHAKE_RECORD) return refusePlain(socket);
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(first);
      for (const listener of begin) listener.call(server, socket);
    });
  });
  return server;
}

/** The part of the TLS options that changes with the certificate, for `setSecureContext`. */
export function secureContext({ cert, key }: TlsPair): SecureContextOptions {
  return { cert, key: key.reveal(), minVersion: 'TLSv1.2' };
}

const PLAIN = 'This port speaks HTTPS: use https:// instead of http://.\n';

function refusePlain(socket: Socket): void {
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${PLAIN.length}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${PLAIN}`, () => socket.destroy());
}
