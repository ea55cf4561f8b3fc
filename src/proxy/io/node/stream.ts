// A stream of the node engine: implements Stream by a net.Socket.
import type { Socket } from 'node:net';
import { type Endpoint, withoutMapping } from '../../../core/addresses/ip.js';
import { keepAliveIdleS, type Stream, type StreamListener } from '../io.js';

let calls = 0;

/** Turns on TCP keepalive. */
export function setKeepAlive(socket: Socket): void {
  calls += 1;
  socket.setKeepAlive(true, keepAliveIdleS(calls) * 1000);
}

const NO_LISTENER: StreamListener = { onData() {}, onEnd() {}, onFailed() {} };

export const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? 'UNKNOWN';

/** The peer of a connected socket; without an address for a Unix socket, or when the connection is closed. */
export function remoteEndpoint({ remoteAddress = '', remotePort = 0 }: Socket): Endpoint {
  return { address: withoutMapping(remoteAddress), port: remotePort };
}

export class NodeStream implements Stream {
  readonly peer: Endpoint;
  readonly local: Endpoint;
  listener: StreamListener = NO_LISTENER;
  readonly #socket: Socket;
  #isPaused = true;
  /** The FIN was reported while the stream was paused: Node does that when no data is buffered. */
  #isEndHeld = false;

  /** @param socket connected, paused, and with `allowHalfOpen` */
  constructor(socket: Socket, peer: Endpoint) {
    const { localAddress = '', localPort = 0 } = socket;
    this.#socket = socket;
    this.peer = peer;
    this.local = { address: withoutMapping(localAddress), port: localPort };
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    socket.on('drain', this.#onDrain);
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
    if (this.#isEndHeld) process.nextTick(this.#onEnd);
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  write(bytes: Uint8Array): void {
    // Copies, because Node keeps bytes that the system does not accept at once, and the caller may overwrite them.
    if (!this.#socket.destroyed) this.#socket.write(Buffer.from(bytes));
  }

  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  shutdown(): void {
    this.#socket.end();
  }

  close(): void {
    this.listener = NO_LISTENER;
    this.#socket.destroy();
  }

  keepAlive(): void {
    setKeepAlive(this.#socket);
  }

  /** Passes the socket to a relay. The stream reports nothing any more; the caller listens for errors of the socket. */
  release(): Socket {
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError);
    this.#socket.off('drain', this.#onDrain);
    return this.#socket;
  }

  readonly #onDrain = (): void => {
    this.listener.onDrain?.();
  };

  readonly #onData = (chunk: Buffer): void => {
    this.listener.onData(chunk);
  };

  readonly #onEnd = (): void => {
    this.#isEndHeld = this.#isPaused;
    if (!this.#isPaused) this.listener.onEnd();
  };

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    this.listener.onFailed(codeOf(error));
  };
}
