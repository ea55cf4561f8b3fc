// The portable relay engine: two node:net sockets, each one's data written to the other.
// Listeners are shared functions that find their relay through the socket, so that a connection allocates little.
import type { Socket } from 'node:net';
import type { AccountRates } from '../core/sessions/rate-limit.js';
import type { Relay, RelayEnd, RelayEngine, RelayOptions } from '../core/sessions/relay.js';
import {
  giveBackDescriptor,
  hasDescriptor,
  isConnected,
  readAgain,
  resetNow,
  takeDescriptor,
} from './handle.js';
import { type Paced, pace } from './paced.js';
import { BulkReads, createReadBuffers, FULL_READ_BYTES, type ReadBuffers } from './read-buffers.js';

const RELAY = Symbol('relay');

interface RelayedSocket extends Socket {
  [RELAY]: StreamRelay;
}

/** Returns the engine that relays with node:net streams alone: works everywhere, needs nothing. */
export function createStreamRelay(buffers = createReadBuffers()): RelayEngine {
  return (client, destination, options) => {
    const relay = new StreamRelay(client, destination, options, buffers);
    relay.start();
    return relay;
  };
}

/** Two descriptors that someone else relays between, and what has ended already. */
export interface HandedOver {
  readonly client: number;
  readonly destination: number;
  readonly isUpDone: boolean;
  readonly isDownDone: boolean;
}

/** What whoever relayed between the descriptors leaves behind. */
export interface HandedBack {
  /** Whether that direction has ended and its end has been passed on. */
  readonly isUpDone: boolean;
  readonly isDownDone: boolean;
  /** Taken from the one side, counted there, and not yet passed on to the other. */
  readonly up: Uint8Array;
  readonly down: Uint8Array;
}

/**
 * One relayed connection. Lives from `start()` until both sockets have closed. `onQuiet` is called after a chunk
 * when nothing is buffered anywhere and no inspector wants more: the moment at which `handOver()` works.
 */
export class StreamRelay implements Relay {
  readonly client: RelayedSocket;
  readonly destination: RelayedSocket;
  readonly #options: RelayOptions;
  /** What `bytesRead` of each socket showed before its first relayed byte. */
  readonly #clientBase: number;
  readonly #destinationBase: number;
  #inspect: RelayOptions['inspect'];
  readonly #onQuiet: (() => void) | undefined;
  #clientDone = false;
  #destinationDone = false;
  #end: RelayEnd | null = null;
  #socketsOpen = 2;
  /** What reads the two directions while rates hold; null while data simply flows. */
  #paced: { readonly client: Paced; readonly destination: Paced } | null = null;
  readonly #buffers: ReadBuffers;
  /** Once a read was full. */
  #bulk: BulkReads | null = null;

  constructor(
    client: Socket,
    destination: Socket,
    options: RelayOptions,
    buffers: ReadBuffers,
    onQuiet?: () => void,
  ) {
    this.client = Object.assign(client, { [RELAY]: this });
    this.destination = Object.assign(destination, { [RELAY]: this });
    this.#options = options;
    this.#buffers = buffers;
    this.#inspect = options.inspect;
    this.#onQuiet = onQuiet;
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
    if (this.#options.rates) this.limitRates(this.#options.rates);
    // A side that ended or closed before we listened does not say so again.
    for (const socket of [this.client, this.destination]) {
      if (socket.closed) process.nextTick(() => this.closed(socket));
      else if (socket.readableEnded) process.nextTick(() => this.finished(socket));
      else socket.resume();
    }
  }

  limitRates({ up, down }: AccountRates): void {
    if (this.#paced || this.#socketsOpen < 2) return;
    const { client, destination } = this;
    this.#paced = {
      client: pace(client.off('data', onData), destination, up, (chunk) => this.forward(client, chunk)),
      destination: pace(destination.off('data', onData), client, down, (chunk) =>
        this.forward(destination, chunk),
      ),
    };
  }

  peerOf(socket: RelayedSocket): RelayedSocket {
    return socket === this.client ? this.destination : this.client;
  }

  forward(from: RelayedSocket, chunk: Buffer): void {
    if (this.#inspect && from === this.client && !this.#inspect(chunk)) this.#inspect = undefined;
    const to = this.peerOf(from);
    // `write` also returns false for a large chunk that the kernel took whole: nothing to wait for then.
    if (!to.write(chunk) && to.writableLength > 0) {
      if (!this.#paced) from.pause();
    } else if (this.#onQuiet && !this.#inspect && !this.#paced && this.#isQuiet()) this.#onQuiet();
  }

  /** `from` has filled all that Node reads at once. */
  fullRead(from: RelayedSocket): void {
    if (this.#inspect || this.#paced) return;
    this.#bulk ??= new BulkReads(this.#buffers);
    this.#bulk.fullRead(from, this.peerOf(from), (chunk, isBuffer) => {
      // Under rates chunks wait in the stream until it is their turn. What waited before the rates came has been
      // written by now: only `drained` lets a paused socket read again.
      if (this.#paced) return from.push(isBuffer ? Buffer.from(chunk) : chunk);
      this.forward(from, chunk);
      return true;
    });
  }

  /** `socket` takes bytes again. */
  drained(socket: RelayedSocket): void {
    if (!this.#paced) this.peerOf(socket).resume();
    else if (socket === this.client) this.#paced.destination.pump();
    else this.#paced.client.pump();
  }

  #isQuiet(): boolean {
    const { client, destination } = this;
    return (
      client.writableLength === 0 &&
      destination.writableLength === 0 &&
      client.readableLength === 0 &&
      destination.readableLength === 0 &&
      // A FIN that is still on its way out belongs to libuv.
      client.writableEnded === client.writableFinished &&
      destination.writableEnded === destination.writableFinished &&
      this.#socketsOpen === 2 &&
      hasDescriptor(client) &&
      hasDescriptor(destination)
    );
  }

  /**
   * Only inside `onQuiet`: stops relaying and lends out both descriptors, until `takeBack()` or `resume()`.
   * `onDestroy`: someone tried to destroy a socket.
   */
  handOver(onDestroy: () => void): HandedOver {
    return {
      client: takeDescriptor(this.client, onDestroy),
      destination: takeDescriptor(this.destination, onDestroy),
      isUpDone: this.#clientDone,
      isDownDone: this.#destinationDone,
    };
  }

  /** The descriptors are ours again, and all there is left to do is to close: `end` says why. */
  takeBack(end: RelayEnd): void {
    giveBackDescriptor(this.client);
    giveBackDescriptor(this.destination);
    if (this.#isOrderly()) this.#end = end;
    if (end === 'client-reset') resetNow(this.destination);
    if (end === 'destination-reset') resetNow(this.client);
    this.client.destroy();
    this.destination.destroy();
  }

  /** The descriptors are ours again, and relaying goes on here. */
  resume({ isUpDone, isDownDone, up, down }: HandedBack): void {
    const { client, destination } = this;
    for (const socket of [client, destination]) {
      giveBackDescriptor(socket);
      readAgain(socket);
    }
    if (up.length > 0) destination.write(up);
    if (down.length > 0) client.write(down);
    // A FIN that was passed on goes through net.Socket as well: to send it twice sends nothing more.
    if (isUpDone && !this.#clientDone) this.finished(client);
    if (isDownDone && !this.#destinationDone) this.finished(destination);
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
    this.#paced?.client.end();
    this.#paced?.destination.end();
    // After both FINs each socket closes when it has flushed; otherwise what closed first takes the other along.
    if (this.#socketsOpen === 0) this.#allClosed(this.#end);
    else if (!(this.#clientDone && this.#destinationDone)) this.peerOf(socket).destroy();
  }

  #allClosed(end: RelayEnd): void {
    this.#bulk?.end();
    this.#options.onEnd(end);
  }
}

function listen(socket: RelayedSocket): void {
  socket.on('data', onData).on('drain', onDrain).on('end', onEnd).on('error', onError).on('close', onClose);
}

function onData(this: RelayedSocket, chunk: Buffer): void {
  this[RELAY].forward(this, chunk);
  if (chunk.length === FULL_READ_BYTES) this[RELAY].fullRead(this);
}

function onDrain(this: RelayedSocket): void {
  this[RELAY].drained(this);
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
