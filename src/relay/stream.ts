// The portable relay engine: two node:net sockets, each one's data written to the other.
// Listeners are shared functions that find their relay through the socket, so that a connection allocates little.
import type { Socket } from 'node:net';
import type { Relay, RelayEnd, RelayEngine, RelayOptions } from '../core/relay.js';
import { isConnected, resetNow } from './handle.js';

const RELAY = Symbol('relay');

interface RelayedSocket extends Socket {
  [RELAY]: StreamRelay;
}

/** Returns the engine that relays with node:net streams alone: works everywhere, needs nothing. */
export function createStreamRelay(): RelayEngine {
  return (client, destination, options) => {
    const relay = new StreamRelay(client, destination, options);
    relay.start();
    return relay;
  };
}

/** One relayed connection. Lives from `start()` until both sockets have closed. */
class StreamRelay implements Relay {
  readonly client: RelayedSocket;
  readonly destination: RelayedSocket;
  readonly #options: RelayOptions;
  /** What `bytesRead` of each socket showed before its first relayed byte. */
  readonly #clientBase: number;
  readonly #destinationBase: number;
  #inspect: RelayOptions['inspect'];
  #clientDone = false;
  #destinationDone = false;
  #end: RelayEnd | null = null;
  #socketsOpen = 2;

  constructor(client: Socket, destination: Socket, options: RelayOptions) {
    this.client = Object.assign(client, { [RELAY]: this });
    this.destination = Object.assign(destination, { [RELAY]: this });
    this.#options = options;
    this.#inspect = options.inspect;
    this.#clientBase = client.bytesRead - client.readableLength;
    this.#destinationBase = destination.bytesRead - destination.readableLength;
  }

  bytesUp(): number {
    return this.client.bytesRead - this.#clientBase;
  }

  bytesDown(): number {
    return this.destination.bytesRead - this.#destinationBase;
  }

  isHalfClosed(): boolean {
    return this.#clientDone !== this.#destinationDone && this.#socketsOpen === 2;
  }

  end(): void {
    if (this.#socketsOpen > 0 && this.#isOrderly()) this.#end = 'ended';
    this.client.destroy();
    this.destination.destroy();
  }

  start(): void {
    listen(this.client);
    listen(this.destination);
    // A side that ended or closed before we listened does not say so again.
    for (const socket of [this.client, this.destination]) {
      if (socket.closed) process.nextTick(() => this.closed(socket));
      else if (socket.readableEnded) process.nextTick(() => this.finished(socket));
      else socket.resume();
    }
  }

  peerOf(socket: RelayedSocket): RelayedSocket {
    return socket === this.client ? this.destination : this.client;
  }

  forward(from: RelayedSocket, chunk: Buffer): void {
    if (this.#inspect && from === this.client && !this.#inspect(chunk)) this.#inspect = undefined;
    if (!this.peerOf(from).write(chunk)) from.pause();
  }

  /** `from` has sent its FIN: passed on behind the bytes that are still buffered. */
  finished(from: RelayedSocket): void {
    const wasOpen = !this.#clientDone && !this.#destinationDone;
    // Once we have sent our own FIN the connection may rightly be gone.
    if (wasOpen && !isConnected(from)) {
      this.failed(from);
      return;
    }
    if (from === this.client) this.#clientDone = true;
    else this.#destinationDone = true;
    this.#end ??= from === this.client ? 'client-closed' : 'destination-closed';
    this.peerOf(from).end();
  }

  failed(socket: RelayedSocket): void {
    // A failure that follows an orderly half-close is still a failure; one that follows another's is its echo.
    if (this.#isOrderly()) {
      this.#end = socket === this.client ? 'client-reset' : 'destination-reset';
    }
    socket.destroy();
    resetNow(this.peerOf(socket));
  }

  /** Nothing but FINs so far. */
  #isOrderly(): boolean {
    return this.#end === null || this.#end === 'client-closed' || this.#end === 'destination-closed';
  }

  closed(socket: RelayedSocket): void {
    this.#end ??= socket === this.client ? 'client-closed' : 'destination-closed';
    this.#socketsOpen -= 1;
    // After both FINs each socket closes when it has flushed; otherwise what closed first takes the other along.
    if (this.#socketsOpen === 0) this.#options.onEnd(this.#end);
    else if (!(this.#clientDone && this.#destinationDone)) this.peerOf(socket).destroy();
  }
}

function listen(socket: RelayedSocket): void {
  socket.on('data', onData).on('drain', onDrain).on('end', onEnd).on('error', onError).on('close', onClose);
}

function onData(this: RelayedSocket, chunk: Buffer): void {
  this[RELAY].forward(this, chunk);
}

function onDrain(this: RelayedSocket): void {
  this[RELAY].peerOf(this).resume();
}

function onEnd(this: RelayedSocket): void {
  this[RELAY].finished(this);
}

function onError(this: RelayedSocket): void {
  this[RELAY].failed(this);
}

function onClose(this: RelayedSocket): void {
  this[RELAY].closed(this);
}
