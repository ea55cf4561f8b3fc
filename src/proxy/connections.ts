// The connections of one worker, until they are relayed: accepted, passed on to the worker of their account, adopted from
// another, and counted over all workers.
import type { Log } from '../core/log.js';
import { Connection } from './connection.js';
import type { Arrival, ConnectionHost, HostedConnection, OpenConnections } from './connection-host.js';
import type { Io, Stream } from './io/io.js';
import type { PassedConnection } from './messages.js';
import { workerOf } from './worker-of.js';

export interface ConnectionsOptions {
  readonly io: Io;
  readonly index: number;
  readonly workers: number;
  /** Over all workers. */
  readonly maxConnections: number;
  /** Counts over all workers; returns the number then. */
  readonly count: (by: number) => number;
  /** Passes a connection to another worker; false when that one is dead: the descriptor stays the caller's. */
  readonly passConnection: (worker: number, connection: PassedConnection) => boolean;
  readonly log: Log;
}

export class Connections implements OpenConnections {
  readonly #host: ConnectionHost;
  readonly #options: ConnectionsOptions;
  readonly #connections = new Set<HostedConnection>();
  #turnedAway = 0;
  /** An operator has drained this node: new connections are closed. */
  isRefusing = false;

  constructor(host: ConnectionHost, options: ConnectionsOptions) {
    this.#host = host;
    this.#options = options;
  }

  accept(stream: Stream, arrival: Arrival): void {
    if (this.isRefusing || !this.tryAcquire()) return stream.close();
    const connection = new Connection(this.#host, stream, arrival);
    this.#connections.add(connection);
    connection.begin();
  }

  /** Takes over a connection of another worker, and goes on from its login. */
  adopt({ fd, client, isProxied, isUnix, protocols, bytes }: PassedConnection): void {
    // It is counted already: its count was passed on with it.
    const arrival: Arrival = { hasProxyHeader: false, isFromTls: false, isUnix, protocols };
    const connection = new Connection(this.#host, this.#options.io.adopt(fd), arrival);
    this.#connections.add(connection);
    connection.resume({ client, isProxied, bytes: Buffer.from(bytes) });
  }

  passOn(connection: HostedConnection, username: Uint8Array): boolean {
    const { io, index, workers, passConnection, log } = this.#options;
    const owner = workers === 1 ? index : workerOf(username, workers);
    if (owner === index) return false;
    const { client, isProxied, arrival } = connection;
    const { isUnix, protocols } = arrival;
    const bytes = connection.handOver();
    const fd = io.detach(connection.stream);
    this.#connections.delete(connection);
    const passed = { fd, client, isProxied, isUnix, protocols, bytes };
    if (passConnection(owner, passed)) return true;
    this.release();
    io.adopt(fd).close();
    const fields = { client: client.address, worker: owner };
    log.warn(fields, 'connection closed: the worker of its account is being restarted');
    return true;
  }

  closed(connection: HostedConnection): void {
    if (this.#connections.delete(connection)) this.release();
  }

  /** A relay has taken its place, which is still counted. */
  relayed(connection: HostedConnection): void {
    this.#connections.delete(connection);
  }

  closeAll(): void {
    for (const connection of [...this.#connections]) connection.close();
  }

  /** Counts one more; false when there is no room. */
  tryAcquire(): boolean {
    const { count, maxConnections } = this.#options;
    if (count(1) <= maxConnections) return true;
    count(-1);
    this.#turnedAway += 1;
    return false;
  }

  release(): void {
    this.#options.count(-1);
  }

  /** Reports those that were turned away since the last call. Meant to be called about once a second. */
  tick(): void {
    if (this.#turnedAway === 0) return;
    const { maxConnections, log } = this.#options;
    log.warn({ turnedAway: this.#turnedAway, maxConnections }, 'connection limit reached');
    this.#turnedAway = 0;
  }
}
