// The connections of one worker until they are relayed: gives each a place, passes it to the worker of its account, and counts all over
// all workers.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { HandedRequest } from '../handover/state.js';
import type { Stream } from '../io/io.js';
import type { Handshakes } from '../memory/handshakes.js';
import { workerOf } from '../memory/hash.js';
import { reservedPlaces } from '../memory/places.js';
import type { ListenerSpec } from '../messages.js';
import type { WorkerBase } from '../worker/base.js';

/** Number of new connections of a worker that may wait for a place, and how often and for how long they look for one, in ms. */
const MAX_DELAYED = 16;
const RETRIES = 5;
/** In the last of them the oldest handshake makes room. */
const EVICTING_RETRIES = 3;
const RETRY_MS = 10;

/** Properties of a connection that its listener determines. */
export interface Arrival extends Pick<ListenerSpec, 'hasProxyHeader' | 'isFromTls' | 'protocols'> {
  readonly isUnix: boolean;
}

/** What is used here of a connection: connection.ts, which imports this file. */
interface OpenConnection {
  readonly stream: Stream;
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly arrival: Arrival;
  /** Returns what another worker needs to continue the connection. The socket stays open, and this object must not be used any more. */
  handOver(): Buffer;
  /** What another process needs to continue it; null: that is not possible. The connection can go on. */
  capture(): HandedRequest | null;
  close(): void;
}

type Base = Pick<WorkerBase, 'io' | 'settings' | 'index' | 'workers' | 'gauges' | 'passConnection' | 'log'>;
type Begin = (stream: Stream) => void;

export class Connections {
  readonly #connections = new Set<OpenConnection>();
  readonly #delayed = new Set<Stream>();
  #refused = 0;
  /** An operator has drained this node: new connections are closed. */
  isRefusing = false;

  constructor(
    private readonly base: Base,
    private readonly handshakes: Pick<Handshakes, 'makePlace'>,
  ) {}

  /** Handshakes take more than half of the places that are reserved for them. */
  get isNearlyFull(): boolean {
    const { maxConnections, maxHandshakes } = this.base.settings;
    return this.count(0) > maxConnections - reservedPlaces(maxConnections, maxHandshakes) / 2;
  }

  /** @param begin called when there is a place, now or a moment later */
  accept(stream: Stream, begin: Begin): void {
    if (this.isRefusing) return stream.close();
    const mayWait = this.#delayed.size < MAX_DELAYED;
    if (this.#tryAcquire(!mayWait)) return begin(stream);
    if (!mayWait) return this.#refuse(stream);
    this.#delayed.add(stream);
    this.#retry(stream, begin, RETRIES);
  }

  /** Sessions and handshakes may be ending, here or in another worker: waits a moment for a place, unread and uncounted. */
  #retry(stream: Stream, begin: Begin, triesLeft: number): void {
    this.base.io.timer(RETRY_MS, () => {
      if (!this.#delayed.has(stream)) return;
      const hasPlace = !this.isRefusing && this.#tryAcquire(triesLeft <= EVICTING_RETRIES);
      if (!hasPlace && triesLeft > 1) return this.#retry(stream, begin, triesLeft - 1);
      this.#delayed.delete(stream);
      if (hasPlace) begin(stream);
      else this.#refuse(stream);
    });
  }

  #refuse(stream: Stream): void {
    this.#refused += 1;
    stream.close();
  }

  /** A connection begins, or continues, after it has been counted. */
  add(connection: OpenConnection): void {
    this.#connections.add(connection);
  }

  /** Passes the connection to the worker of its account; false when this is that worker. */
  passOn(connection: OpenConnection, username: Uint8Array): boolean {
    const { io, settings, index, workers, passConnection, log } = this.base;
    const worker = workers === 1 ? index : workerOf(username, workers, settings.exitSuffix.length > 0);
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

  /** What another process needs to continue those that it can. */
  capture(): HandedRequest[] {
    return [...this.#connections].flatMap((connection) => connection.capture() ?? []);
  }

  closed(connection: OpenConnection): void {
    if (this.#connections.delete(connection)) this.release();
  }

  /** A relay has replaced the connection, which still counts. */
  relayed(connection: OpenConnection): void {
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
    const { maxConnections } = this.base.settings;
    if (this.count(1) <= maxConnections) return true;
    this.release();
    if (!mayEvict || !this.handshakes.makePlace()) return false;
    if (this.count(1) <= maxConnections) return true;
    this.release();
    return false;
  }

  release(): void {
    this.count(-1);
  }

  /** Adds to the number of connections of all workers, whatever the limit is; returns the new number. */
  count(by: number): number {
    return this.base.gauges.add(this.base.index, 'connections', by);
  }

  /** Logs how many were refused since the last call. Call it about once a second. */
  tick(): void {
    if (this.#refused === 0) return;
    const { settings, log } = this.base;
    log.warn({ refused: this.#refused, maxConnections: settings.maxConnections }, 'connection limit reached');
    this.#refused = 0;
  }
}
