// The resolver's thread, in the main thread: restarts it when it has died, and connects it to every worker.
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import { threadUrl } from '../../program.js';
import type { ResolverMessage, ResolverStart } from '../dns/messages.js';
import { RecentDeaths } from './restarts.js';
import type { PlaneWorker } from './worker-handle.js';

export class PlaneResolver {
  readonly #workers: readonly PlaneWorker[];
  readonly #start: ResolverStart;
  readonly #log: Log;
  readonly #deaths = new RecentDeaths();
  #thread: Worker | null = null;
  #restart: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param workers those that run now */
  constructor(workers: readonly PlaneWorker[], start: ResolverStart, log: Log) {
    this.#workers = workers;
    this.#start = start;
    this.#log = log;
  }

  /** Connects the present workers. Resolves when the thread runs, or has failed and will be started again. */
  start(): Promise<void> {
    const thread = new Worker(threadUrl('proxy/dns/thread'), {
      workerData: this.#start,
      name: 'resolver',
    });
    thread.on('error', (error) => {
      this.#log.error({ err: error }, 'resolver thread failed; restarting');
    });
    thread.on('exit', () => {
      if (this.#isStopped) return;
      this.#deaths.add(performance.now());
      this.#restart = setTimeout(() => void this.start(), this.#deaths.pauseMs);
    });
    this.#thread = thread;
    for (const worker of this.#workers) this.connect(worker);
    return new Promise((resolve) => {
      for (const event of ['message', 'exit'] as const) thread.once(event, () => resolve());
    });
  }

  /** Connects a worker to the resolver, if that has been started. */
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
