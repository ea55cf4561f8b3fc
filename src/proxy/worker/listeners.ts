// The listeners of one worker: sockets that the control plane has opened, or that the node engine opens.
import type { Arrival } from '../connection/connections.js';
import type { Io, Stream } from '../io/io.js';
import type { ListenerSpec } from '../messages.js';
import type { Events } from './events.js';

/** Opens a listening socket. `done` receives the bound address, or the error. */
export type Listen = (
  spec: ListenerSpec,
  onConnection: (stream: Stream) => void,
  done: (result: { address: string; port: number; close(): void } | { code: string }) => void,
) => void;

export interface WorkerListenersOptions {
  readonly io: Io;
  readonly listen: Listen;
  readonly events: Pick<Events, 'push' | 'send'>;
  readonly onConnection: (stream: Stream, arrival: Arrival) => void;
}

export class WorkerListeners {
  readonly #options: WorkerListenersOptions;
  readonly #listeners = new Map<number, { close(): void }>();

  constructor(options: WorkerListenersOptions) {
    this.#options = options;
  }

  /** Accepts connections. When it opens the socket, it reports `listening` or `listen-failed`. */
  listen(spec: ListenerSpec): void {
    const { io, listen, events } = this.#options;
    const { hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const onConnection = (stream: Stream): void => this.#options.onConnection(stream, arrival);
    if (spec.fd !== null && io.name === 'native') {
      this.#listeners.set(spec.id, io.acceptFrom(spec.fd, onConnection));
      return;
    }
    listen(spec, onConnection, (result) => {
      if ('code' in result) events.push({ kind: 'listen-failed', id: spec.id, code: result.code });
      else {
        this.#listeners.set(spec.id, result);
        events.push({ kind: 'listening', id: spec.id, address: result.address, port: result.port });
      }
      events.send();
    });
  }

  closeAll(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }
}
