// The listeners of one worker: sockets that the control plane has opened, or that the node engine opens.
import type { Arrival } from '../connection/connections.js';
import type { Io, Stream } from '../io/io.js';
import type { ListenerSpec } from '../messages.js';
import type { Events } from './events.js';

export class WorkerListeners {
  readonly #io: Io;
  readonly #events: Pick<Events, 'push' | 'send'>;
  readonly #onConnection: (stream: Stream, arrival: Arrival) => void;
  readonly #listeners = new Map<number, { close(): void }>();

  constructor(
    io: Io,
    events: Pick<Events, 'push' | 'send'>,
    onConnection: (stream: Stream, arrival: Arrival) => void,
  ) {
    this.#io = io;
    this.#events = events;
    this.#onConnection = onConnection;
  }

  /** Accepts connections, and reports `listening` or `listen-failed`. */
  listen(spec: ListenerSpec): void {
    const { id, hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const onConnection = (stream: Stream): void => this.#onConnection(stream, arrival);
    this.#io.serve(spec, onConnection, (result) => {
      if (result.ok) this.#listeners.set(id, result);
      this.#events.push(
        result.ok
          ? { kind: 'listening', id, ...result.local }
          : { kind: 'listen-failed', id, code: result.code },
      );
      this.#events.send();
    });
  }

  closeAll(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }
}
