// The threads beside the workers, in the main thread: the resolver's and the one for TLS towards upstream proxies.
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import { threadUrl } from '../../program.js';
import type { ResolverMessage, ResolverStart } from '../dns/messages.js';
import type { SecureRequest } from '../messages.js';
import { RecentDeaths } from './restarts.js';
import type { PlaneWorker } from './worker-handle.js';

/** Starts the resolver's thread when a name is first looked up, and again whenever it has died, and connects it to every worker. */
export class PlaneResolver {
  readonly #start: ResolverStart;
  readonly #deaths = new RecentDeaths();
  #thread: Worker | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param workers those that run now */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    start: ResolverStart,
    private readonly log: Log,
  ) {
    this.#start = start;
  }

  /** A worker that is not connected has a question. */
  want(): void {
    if (this.#thread === null) this.#run();
  }

  #run(): void {
    const thread = new Worker(threadUrl('proxy/dns/thread'), {
      workerData: this.#start,
      name: 'resolver',
    });
    thread.on('error', (error) => {
      this.log.error({ err: error }, 'resolver thread failed; restarting');
    });
    thread.on('exit', () => {
      if (this.#isStopped) return;
      this.#deaths.add(performance.now());
      this.#restart = setTimeout(() => this.#run(), this.#deaths.pauseMs);
    });
    this.#thread = thread;
    for (const worker of this.workers) if (worker.isStarted) this.connect(worker);
  }

  /** Connects a worker that has started to the resolver, if that has been started. */
  connect(worker: PlaneWorker): void {
    if (this.#thread === null) return;
    const { port1, port2 } = new MessageChannel();
    const message: ResolverMessage = { index: worker.index, wakeFd: worker.wakeFd, port: port2 };
    this.#thread.postMessage(message, [port2]);
    worker.send({ kind: 'resolver', port: port1 }, [port1]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    await this.#thread?.terminate();
  }
}

/** Starts the thread for TLS towards upstream proxies when it is first needed. */
export class PlaneTlsClients {
  #thread: Worker | null = null;

  constructor(private readonly log: Pick<Log, 'error'>) {}

  /** Gives the thread the descriptors of a connection. When it dies its connections end, and the next one starts another. */
  secure(request: SecureRequest): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage(request);
  }

  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(threadUrl('proxy/tls/client-thread'), { name: 'tls-clients' });
    thread.on('error', (err) => this.log.error({ err }, 'TLS thread failed; restarting'));
    thread.on('exit', () => {
      this.#thread = null;
    });
    return thread;
  }
}
