// Requests to the workers: a number for each, and the answers.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { ExitTrial, ExitTrialRequest } from '../../core/exits/exit-figures.js';
import type { Gauges } from '../memory/shared.js';
import type { PlaneWorker } from './worker-handle.js';

export class PlaneRequests {
  #token = 0;

  /** @param workers those that run now, by index */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    private readonly gauges: Gauges,
  ) {}

  /** A unique number for a listener or a request. */
  nextToken(): number {
    this.#token += 1;
    return this.#token;
  }

  /** Resolves when the workers have handled the messages that were sent so far, and have taken over what was handed to them. */
  async synced(workers = this.workers): Promise<void> {
    await Promise.all(workers.map((worker) => worker.ask({ kind: 'sync', token: this.nextToken() })));
  }

  /**
   * Processes all events that the workers have so far. Call it before reading the observer's state. Returns a promise only
   * when a worker still has to send events.
   */
  settle(): void | Promise<void> {
    // Read the flag first: a worker clears it after it has posted its events, so that events are either waiting or readable.
    const behind = this.workers.filter(({ index }) => this.gauges.getSign(index, 'eventsWaiting') !== 0);
    for (const worker of this.workers) worker.readAll();
    if (behind.length > 0) return this.synced(behind);
  }

  /** The destinations of connections with this local address and port. */
  async findOutbound(address: string, port: number): Promise<Endpoint[]> {
    const answers = await Promise.all(
      this.workers.map((worker) =>
        worker.ask({ kind: 'find-outbound', token: this.nextToken(), address, port }),
      ),
    );
    return answers.flatMap((event) => (event?.kind === 'outbound' ? [...event.remotes] : []));
  }

  /** Connects out through an exit, in the first worker. Null: the worker has died. */
  async tryExit(attempt: ExitTrialRequest): Promise<ExitTrial | null> {
    const event = await this.workers[0]?.ask({ kind: 'try-exit', token: this.nextToken(), ...attempt });
    return event?.kind === 'exit-tried' ? event.trial : null;
  }
}
