// The players' listeners, in the main thread: which listeners exist, and which workers accept from them.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { Log } from '../../core/log.js';
import type { Libc } from '../io/native/libc.js';
import type { ListenerSpec } from '../messages.js';
import type { PlaneRequests } from './requests.js';
import type { ListenEvent, PlaneWorker } from './worker-handle.js';

export type NewListener = Omit<ListenerSpec, 'id'>;
/** The bound address, or why there is none. */
export type ListenResult = Endpoint | { readonly code: string };

export class PlaneListeners {
  readonly #libc: Libc | null;
  readonly #retries: ListenRetries;
  readonly #listeners: ListenerSpec[] = [];
  #isDraining = false;

  /** @param workers those that run now, by index; of `workerCount` */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    private readonly workerCount: number,
    private readonly requests: Pick<PlaneRequests, 'nextToken'>,
    { libc, log }: { readonly libc: Libc | null; readonly log: Log },
  ) {
    this.#libc = libc;
    this.#retries = new ListenRetries(log, 'proxy worker');
  }

  /** Whether every listener is open: not while a restarted worker cannot open one. */
  get areOpen(): boolean {
    return this.#retries.size === 0;
  }

  /** Whether some sockets were open before a worker got them. */
  get hasDescriptors(): boolean {
    return this.#listeners.some(({ fd }) => fd !== null);
  }

  /** Accepts from a descriptor that is open already, in every worker. */
  acceptFrom(opened: NewListener): void {
    const spec = { ...opened, id: this.requests.nextToken() };
    this.#listeners.push(spec);
    for (const worker of this.workers) this.#send(worker, spec);
  }

  /** Lets the first worker open the socket. */
  async listen(asked: NewListener): Promise<ListenResult> {
    const [worker] = this.workers;
    if (!worker) throw new Error('the data plane has not been started');
    const spec = { ...asked, id: this.requests.nextToken() };
    const event = await worker.ask({ kind: 'listen', listener: this.#specFor(worker, spec) });
    if (event?.kind !== 'listening') return { code: event?.kind === 'listen-failed' ? event.code : 'EIO' };
    this.#listeners.push({ ...spec, port: event.port });
    return { address: event.address, port: event.port };
  }

  /** Sends a worker that has just started every listener. */
  sendAll(worker: PlaneWorker): void {
    if (this.#isDraining) return;
    for (const listener of this.#listeners) this.#send(worker, listener);
  }

  /** A restarted worker has opened a listener, or could not open it. */
  listened(worker: PlaneWorker, event: ListenEvent): void {
    if (event.kind === 'listening') return this.#retries.opened(event.id, event.port);
    const listener = this.#listeners.find(({ id }) => id === event.id);
    if (listener && !this.#isDraining)
      this.#retries.failed(event.id, event.code, () => this.#send(worker, listener));
  }

  /** Stops accepting, and after `handshakeMs` closes connections without a complete request. */
  drain(handshakeMs: number): void {
    this.#isDraining = true;
    this.#retries.clear();
    for (const worker of this.workers) worker.send({ kind: 'drain', handshakeMs });
  }

  /** The node engine cannot pass connections to other workers: beside native workers it serves only what they pass to it. */
  #send(worker: PlaneWorker, listener: ListenerSpec): void {
    if (worker.engine === 'node' && this.workerCount > 1) return;
    worker.send({ kind: 'listen', listener: this.#specFor(worker, listener) });
  }

  /** The node engine closes a descriptor with its listener, so it gets a duplicate. */
  #specFor({ engine }: PlaneWorker, listener: ListenerSpec): ListenerSpec {
    if (engine === 'native' || listener.fd === null || this.#libc === null) return listener;
    return { ...listener, fd: this.#libc.dup(listener.fd) };
  }
}

/** Delay before a listener is tried again, in ms. Meanwhile another program may have its port, or no descriptor may be free. */
const RETRY_MS = 1_000;

/** The listeners that a restarted thread could not open: each is tried again until it is open. */
export class ListenRetries {
  /** By the id of the listener. */
  readonly #timers = new Map<number, NodeJS.Timeout>();

  /** @param thread its name in the log */
  constructor(
    private readonly log: Pick<Log, 'warn' | 'error'>,
    private readonly thread: string,
  ) {}

  /** The number of closed listeners. */
  get size(): number {
    return this.#timers.size;
  }

  /** The thread could not open the listener: calls `again` later. Logged once for all attempts. */
  failed(id: number, code: string, again: () => void): void {
    if (!this.#timers.has(id))
      this.log.error({ thread: this.thread, code }, 'restarted thread cannot listen; will retry');
    this.#timers.set(id, setTimeout(again, RETRY_MS).unref());
  }

  /** The thread has opened the listener. */
  opened(id: number, port: number): void {
    if (this.#timers.delete(id))
      this.log.warn({ thread: this.thread, port }, 'restarted thread listens again');
  }

  /** Tries none of them again. */
  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
