// The listeners of one worker: sockets that the control plane has opened, or that the node engine opens.
import type { Arrival } from '../connection/connections.js';
import type { Stream } from '../io/io.js';
import type { ListenerSpec } from '../messages.js';
import type { WorkerBase } from './base.js';

export class WorkerListeners {
  readonly #base: Pick<WorkerBase, 'io' | 'events'>;
  readonly #onConnection: (stream: Stream, arrival: Arrival) => void;
  readonly #listeners = new Map<number, { close(): void }>();

  constructor(
    base: Pick<WorkerBase, 'io' | 'events'>,
    onConnection: (stream: Stream, arrival: Arrival) => void,
  ) {
    this.#base = base;
    this.#onConnection = onConnection;
  }

  /** Accepts connections, and reports `listening` or `listen-failed`. */
  listen(spec: ListenerSpec): void {
    const { io, events } = this.#base;
    const { id, hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const onConnection = (stream: Stream): void => this.#onConnection(stream, arrival);
    io.serve(spec, onConnection, (result) => {
      if (result.ok) this.#listeners.set(id, result);
      events.push(
        result.ok
          ? { kind: 'listening', id, ...result.local }
          : { kind: 'listen-failed', id, code: result.code },
      );
      events.send();
    });
  }

  closeAll(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }
}
