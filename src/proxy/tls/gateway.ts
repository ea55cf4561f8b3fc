// The thread for TLS as the control plane has it: listeners are opened in it, certificates replaced, and a thread that dies
// is started anew with the listeners it had.
import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import type { TlsEvent, TlsListenerSpec, TlsMaterial, TlsMessage, TlsThreadStart } from './messages.js';

export interface TlsGatewayOptions extends TlsThreadStart {
  readonly log: Pick<Log, 'warn' | 'error'>;
}

/** Before a thread that has died is started again, in ms. */
const REST_MS = 1_000;

type Opened = { readonly address: string; readonly port: number; close(): void } | { readonly code: string };

export class TlsGateway {
  readonly #options: TlsGatewayOptions;
  readonly #listeners = new Map<number, TlsListenerSpec>();
  readonly #opening = new Map<number, (event: TlsEvent) => void>();
  #thread: Worker | null = null;
  #isStopped = false;

  constructor(options: TlsGatewayOptions) {
    this.#options = options;
  }

  /** Opens a listener; a port of 0 is chosen by the system. */
  listen(spec: TlsListenerSpec): Promise<Opened> {
    return new Promise((resolve) => {
      this.#opening.set(spec.id, (event) => {
        if (event.kind !== 'listening')
          return resolve({ code: event.kind === 'listen-failed' ? event.code : 'EIO' });
        const { address, port } = event;
        this.#listeners.set(spec.id, { ...spec, port });
        resolve({ address, port, close: () => this.#close(spec.id) });
      });
      this.#send({ kind: 'listen', listener: spec });
    });
  }

  /** New connections to the listener are served with this certificate. */
  setMaterial(id: number, material: TlsMaterial): void {
    const listener = this.#listeners.get(id);
    if (!listener) return;
    this.#listeners.set(id, { ...listener, material });
    // A thread that has just died is given it when it is started again.
    this.#thread?.postMessage({ kind: 'material', id, material } satisfies TlsMessage);
  }

  /** Ends the thread and every connection of it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.terminate();
  }

  #close(id: number): void {
    if (this.#listeners.delete(id)) this.#thread?.postMessage({ kind: 'close', id } satisfies TlsMessage);
  }

  #send(message: TlsMessage): void {
    if (this.#isStopped) return;
    this.#thread ??= this.#start();
    this.#thread.postMessage(message);
  }

  #start(): Worker {
    const { log, ...start } = this.#options;
    const thread = new Worker(new URL('./tls-thread.js', import.meta.url), {
      workerData: start satisfies TlsThreadStart,
      name: 'tls',
    });
    thread.on('message', (event: TlsEvent) => this.#take(event));
    thread.on('error', (error) => log.error({ err: error }, 'TLS thread failed; starting it again'));
    thread.on('exit', () => this.#exited());
    return thread;
  }

  #exited(): void {
    this.#thread = null;
    for (const [id, answer] of this.#opening) answer({ kind: 'listen-failed', id, code: 'EIO' });
    this.#opening.clear();
    // After a pause: what ended it may end it again.
    setTimeout(() => {
      for (const listener of this.#listeners.values()) this.#send({ kind: 'listen', listener });
    }, REST_MS).unref();
  }

  #take(event: TlsEvent): void {
    if (event.kind === 'refused') {
      this.#options.log.warn({ handshakes: event.handshakes }, 'too many TLS handshakes: some were closed');
      return;
    }
    const answer = this.#opening.get(event.id);
    this.#opening.delete(event.id);
    if (answer) answer(event);
    else if (event.kind === 'listen-failed')
      this.#options.log.error({ code: event.code }, 'restarted TLS thread cannot listen');
  }
}
