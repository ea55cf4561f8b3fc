// The TLS thread, in the main thread: opens its listeners, replaces certificates, and restarts a dead thread with the same
// listeners.
import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import { threadUrl } from '../../program.js';
import { ListenRetries } from '../plane/listeners.js';
import type { TlsEvent, TlsListenerSpec, TlsMaterial, TlsMessage, TlsThreadStart } from './messages.js';

export interface TlsGatewayOptions extends TlsThreadStart {
  /** Duplicates the descriptor of a listener: the thread closes what it gets. */
  readonly dup: (fd: number) => number;
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** Delay before a dead thread is restarted, in ms. */
const RESTART_DELAY_MS = 1_000;

type Opened = { readonly address: string; readonly port: number; close(): void } | { readonly code: string };

export class TlsGateway {
  readonly #listeners = new Map<number, TlsListenerSpec>();
  readonly #opening = new Map<number, (event: TlsEvent) => void>();
  readonly #retries: ListenRetries;
  #thread: Worker | null = null;
  #isStopped = false;

  constructor(private readonly options: TlsGatewayOptions) {
    this.#retries = new ListenRetries(options.log, 'tls');
  }

  /** Whether every listener is open; not, when the restarted thread could not open one. */
  get isListening(): boolean {
    return this.#retries.size === 0;
  }

  /** Opens a listener; with port 0 the system chooses the port. */
  listen(spec: TlsListenerSpec): Promise<Opened> {
    return new Promise((resolve) => {
      this.#opening.set(spec.id, (event) => {
        if (event.kind !== 'listening')
          return resolve({ code: event.kind === 'listen-failed' ? event.code : 'EIO' });
        const { address, port } = event;
        this.#listeners.set(spec.id, { ...spec, port });
        resolve({ address, port, close: () => this.#close(spec.id) });
      });
      this.#sendListener(spec);
    });
  }

  setMaterial(id: number, material: TlsMaterial): void {
    const listener = this.#listeners.get(id);
    if (!listener) return;
    this.#listeners.set(id, { ...listener, material });
    // A dead thread gets it at its restart.
    this.#thread?.postMessage({ kind: 'material', id, material } satisfies TlsMessage);
  }

  /** Ends the thread and all its connections. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.terminate();
  }

  #close(id: number): void {
    if (this.#listeners.delete(id)) this.#thread?.postMessage({ kind: 'close', id } satisfies TlsMessage);
  }

  #sendListener(listener: TlsListenerSpec): void {
    const fd = listener.fd === null ? null : this.options.dup(listener.fd);
    this.#send({ kind: 'listen', listener: { ...listener, fd } });
  }

  #send(message: TlsMessage): void {
    if (this.#isStopped) return;
    this.#thread ??= this.#start();
    this.#thread.postMessage(message);
  }

  #start(): Worker {
    const { log, dup, ...start } = this.options;
    const thread = new Worker(threadUrl('proxy/tls/tls-thread'), {
      workerData: start satisfies TlsThreadStart,
      name: 'tls',
    });
    thread.on('message', (event: TlsEvent) => this.#take(event));
    thread.on('error', (error) => log.error({ err: error }, 'TLS thread failed; restarting'));
    thread.on('exit', () => this.#exited());
    return thread;
  }

  #exited(): void {
    this.#thread = null;
    // The restart opens every listener.
    this.#retries.clear();
    for (const [id, answer] of this.#opening) answer({ kind: 'listen-failed', id, code: 'EIO' });
    this.#opening.clear();
    // After a delay, because the cause may still exist.
    setTimeout(() => {
      for (const listener of this.#listeners.values()) this.#sendListener(listener);
    }, RESTART_DELAY_MS).unref();
  }

  #take(event: TlsEvent): void {
    if (event.kind === 'refused') {
      this.options.log.warn(
        { handshakes: event.handshakes },
        'TLS handshake limit reached; connections closed',
      );
      return;
    }
    const answer = this.#opening.get(event.id);
    this.#opening.delete(event.id);
    if (answer) answer(event);
    else if (event.kind === 'listening') this.#retries.opened(event.id, event.port);
    else
      this.#retries.failed(event.id, event.code, () => {
        const listener = this.#listeners.get(event.id);
        if (listener) this.#sendListener(listener);
      });
  }
}
