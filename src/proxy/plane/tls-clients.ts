// The thread for TLS towards upstream proxies, in the main thread: starts when it is first needed.
import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import { threadUrl } from '../../program.js';
import type { SecureRequest } from '../messages.js';

export class PlaneTlsClients {
  readonly #log: Pick<Log, 'error'>;
  #thread: Worker | null = null;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

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
    thread.on('error', (err) => this.#log.error({ err }, 'TLS thread failed; restarting'));
    thread.on('exit', () => {
      this.#thread = null;
    });
    return thread;
  }
}
