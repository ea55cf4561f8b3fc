// The connections of one worker until they are relayed: accepts them, passes them to the worker of their account, adopts
// them from other workers, and counts them over all workers.
import type { Endpoint } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import type { ClientProtocolName } from '../../core/sessions/session.js';
import type { HandedRequest } from '../handover/state.js';
import type { Io, Stream } from '../io/io.js';
import { workerOf } from '../memory/hash.js';
import { reservedPlaces } from '../memory/places.js';
import type { PassedConnection } from '../messages.js';

/** Number of new connections of a worker that may wait for a place, and how often and for how long they look for one, in ms. */
const MAX_DELAYED = 16;
const RETRIES = 5;
/** In the last of them the oldest handshake makes room. */
const EVICTING_RETRIES = 3;
const RETRY_MS = 10;

/** Properties of a connection that its listener determines. */
export interface Arrival {
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
  /** Connections come from the TLS thread of this process, whose PROXY header is trusted. */
  readonly isFromTls: boolean;
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
}

/** A connection whose first bytes another worker has read. */
export interface Resumed {
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly bytes: Buffer;
}

/** A connection, as the others see it that it imports: this file, and running-command.ts. */
export interface ClientConnection {
  readonly stream: Stream;
  readonly client: Endpoint;
  /** A PROXY header named the client. */
  readonly isProxied: boolean;
  /** Its account was found by its address. */
  readonly isByAddress: boolean;
  /** Of the link by whose password it was logged in; null: otherwise. */
  readonly linkHash: string | null;
  readonly arrival: Arrival;
  /** Begins, after this worker has accepted it. */
  begin(): void;
  /** Continues, after another worker has accepted it and read it up to the login. */
  resume(resumed: Resumed): void;
  /** Continues, after another process has handed it over. */
  continue(handed: HandedRequest): void;
  /** What another process needs to continue it; null: that is not possible. The connection can go on. */
  capture(): HandedRequest | null;
  /** Returns what another worker needs to continue the connection. The socket stays open, and this object must not be used any more. */
  handOver(): Buffer;
  /** Sends `frame` and closes. */
  refuse(frame: Uint8Array): void;
  /** The HTTP exchange has ended, and the client may send its next request. `rest`: what it has already sent of it. */
  awaitRequest(rest: Buffer): void;
  /** A relay replaces the connection. */
  relayed(): void;
  /** Closes immediately, in every stage. */
  close(): void;
  /** The stream is closed. */
  closed(): void;
}

export interface ConnectionsOptions {
  readonly io: Io;
  readonly create: (stream: Stream, arrival: Arrival) => ClientConnection;
  readonly index: number;
  readonly workers: number;
  /** Exits that clients may add to their user name. */
  readonly exitSuffix: readonly string[];
  /** Over all workers. */
  readonly maxConnections: number;
  readonly maxHandshakes: number;
  /** Adds to the number of connections of all workers; returns the new number. */
  readonly count: (by: number) => number;
  /** Closes a handshake of this worker; false: there is none. */
  readonly makePlace: () => boolean;
  /** Passes a connection to another worker; false when that worker is dead: the caller still owns the descriptor. */
  readonly passConnection: (worker: number, connection: PassedConnection) => boolean;
  readonly log: Log;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #connections = new Set<ClientConnection>();
  readonly #delayed = new Set<Stream>();
  #refused = 0;
  /** An operator has drained this node: new connections are closed. */
  isRefusing = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Handshakes take more than half of the places that are reserved for them. */
  get isNearlyFull(): boolean {
    const { count, maxConnections, maxHandshakes } = this.#options;
    return count(0) > maxConnections - reservedPlaces(maxConnections, maxHandshakes) / 2;
  }

  accept(stream: Stream, arrival: Arrival): void {
    if (this.isRefusing) return stream.close();
    const mayWait = this.#delayed.size < MAX_DELAYED;
    if (this.#tryAcquire(!mayWait)) return this.#begin(stream, arrival);
    if (!mayWait) return this.#refuse(stream);
    this.#delayed.add(stream);
    this.#retry(stream, arrival, RETRIES);
  }

  /** Sessions and handshakes may be ending, here or in another worker: waits a moment for a place, unread and uncounted. */
  #retry(stream: Stream, arrival: Arrival, triesLeft: number): void {
    this.#options.io.timer(RETRY_MS, () => {
      if (!this.#delayed.has(stream)) return;
      const hasPlace = !this.isRefusing && this.#tryAcquire(triesLeft <= EVICTING_RETRIES);
      if (!hasPlace && triesLeft > 1) return this.#retry(stream, arrival, triesLeft - 1);
      this.#delayed.delete(stream);
      if (hasPlace) this.#begin(stream, arrival);
      else this.#refuse(stream);
    });
  }

  #refuse(stream: Stream): void {
    this.#refused += 1;
    stream.close();
  }

  #begin(stream: Stream, arrival: Arrival): void {
    const connection = this.#options.create(stream, arrival);
    this.#connections.add(connection);
    connection.begin();
  }

  /** Adopts a connection from another worker, and continues with its login. */
  adopt({ fd, client, isProxied, isUnix, protocols, bytes }: PassedConnection): void {
    // It is already counted: its count was transferred with it.
    const arrival: Arrival = { hasProxyHeader: false, isFromTls: false, isUnix, protocols };
    const connection = this.#options.create(this.#options.io.adopt(fd), arrival);
    this.#connections.add(connection);
    connection.resume({ client, isProxied, bytes: Buffer.from(bytes) });
  }

  /** Passes the connection to the worker of its account; false when this is that worker. */
  passOn(connection: ClientConnection, username: Uint8Array): boolean {
    const { io, index, workers, exitSuffix, passConnection, log } = this.#options;
    const worker = workers === 1 ? index : workerOf(username, workers, exitSuffix.length > 0);
    if (worker === index) return false;
    const { client, isProxied, arrival } = connection;
    const { isUnix, protocols } = arrival;
    const bytes = connection.handOver();
    const fd = io.detach(connection.stream);
    this.#connections.delete(connection);
    const passed = { fd, client, isProxied, isUnix, protocols, bytes };
    if (passConnection(worker, passed)) return true;
    this.release();
    io.adopt(fd).close();
    const fields = { client: client.address, worker };
    log.warn(fields, 'connection closed: the worker of its account is being restarted');
    return true;
  }

  /** Takes over a connection of another process. */
  continue(handed: HandedRequest): void {
    this.count(1);
    const [fd = -1] = handed.descriptors;
    const connection = this.#options.create(this.#options.io.adopt(fd), handed.arrival);
    this.#connections.add(connection);
    connection.continue(handed);
  }

  /** What another process needs to continue those that it can. */
  capture(): HandedRequest[] {
    return [...this.#connections].flatMap((connection) => connection.capture() ?? []);
  }

  closed(connection: ClientConnection): void {
    if (this.#connections.delete(connection)) this.release();
  }

  /** A relay has replaced the connection, which still counts. */
  relayed(connection: ClientConnection): void {
    this.#connections.delete(connection);
  }

  closeAll(): void {
    for (const stream of this.#delayed) stream.close();
    this.#delayed.clear();
    for (const connection of [...this.#connections]) connection.close();
  }

  /**
   * Counts a command that holds more descriptors than a CONNECT as one connection more. Returns how to release it, or null when
   * there is no room.
   */
  tryAcquire(): (() => void) | null {
    if (this.#tryAcquire(true)) return () => this.release();
    this.#refused += 1;
    return null;
  }

  /** @param mayEvict closes the oldest handshake if there is no room: sessions leave places to handshakes */
  #tryAcquire(mayEvict: boolean): boolean {
    const { count, makePlace, maxConnections } = this.#options;
    if (count(1) <= maxConnections) return true;
    count(-1);
    if (mayEvict && makePlace()) {
      if (count(1) <= maxConnections) return true;
      count(-1);
    }
    return false;
  }

  release(): void {
    this.#options.count(-1);
  }

  /** Counts connections that another process has handed over, whatever the limit is. */
  count(added: number): void {
    this.#options.count(added);
  }

  /** Logs how many were refused since the last call. Call it about once a second. */
  tick(): void {
    if (this.#refused === 0) return;
    const { maxConnections, log } = this.#options;
    log.warn({ refused: this.#refused, maxConnections }, 'connection limit reached');
    this.#refused = 0;
  }
}
