// A stream of the node driver: a net.Socket behind the Stream interface.
import type { Socket } from 'node:net';
import { withoutMapping } from '../../../core/ip.js';
import type { Endpoint, Stream, StreamListener } from '../io.js';

export const KEEP_ALIVE_IDLE_MS = 60_000;

const NO_LISTENER: StreamListener = { onData() {}, onEnd() {}, onFailed() {} };

export function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'UNKNOWN';
}

/** The far end of a connected socket; without an address when it is a Unix socket, or when the connection has gone. */
export function remoteEndpoint({ remoteAddress = '', remotePort = 0 }: Socket): Endpoint {
  return { address: withoutMapping(remoteAddress), port: remotePort };
}

export class NodeStream implements Stream {
  readonly peer: Endpoint;
  readonly local: Endpoint;
  listener: StreamListener = NO_LISTENER;
  readonly #socket: Socket;
  #isPaused = true;
  /** The end came while paused: Node reports it even then, when nothing is buffered. */
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
    // Copied: Node keeps what the system does not take at once, and the caller may overwrite it.
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
    this.#socket.setKeepAlive(true, KEEP_ALIVE_IDLE_MS);
  }

  /** Hands the socket to a relay: the stream reports nothing any more. The caller listens for its errors. */
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
