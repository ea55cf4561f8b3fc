// How a dead thread is restarted: immediately, and after repeated deaths after a pause; a worker then also with the node engine.
import type { PlaneWorker } from './worker-handle.js';

/** After this many deaths within DEATHS_MS, a worker is restarted with the node engine; after more, every thread after PAUSE_MS. */
const MAX_DEATHS = 3;
const DEATHS_MS = 60_000;
/** Delay before a thread that keeps dying is restarted, in ms. */
const PAUSE_MS = 1_000;

/** The deaths of one thread and its successors. */
export class RecentDeaths {
  #times: readonly number[] = [];

  /** Counts a death; returns the number of deaths within DEATHS_MS. @param now monotonic, in ms */
  add(now: number): number {
    this.#times = [...this.#times, now].filter((at) => now - at < DEATHS_MS);
    return this.#times.length;
  }

  /** Delay before the next restart, in ms. */
  get pauseMs(): number {
    return this.#times.length > MAX_DEATHS ? PAUSE_MS : 0;
  }
}

export interface Restart {
  readonly engine: 'native' | 'node';
  readonly pauseMs: number;
}

export class PlaneRestarts {
  readonly #deaths: RecentDeaths[] = [];
  /** The engine of the next start of each worker that has died, by worker. */
  readonly #engines: Restart['engine'][] = [];

  /** @param workers those that run now, by index; of `workerCount` */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    private readonly workerCount: number,
  ) {}

  /** Counts the death of `worker`. @param now monotonic, in ms */
  next(worker: PlaneWorker, now: number): Restart {
    const deaths = this.#deaths[worker.index] ?? new RecentDeaths();
    this.#deaths[worker.index] = deaths;
    const isRepeated = deaths.add(now) >= MAX_DEATHS;
    const engine = isRepeated && this.#isSpare(worker) ? 'node' : worker.engine;
    this.#engines[worker.index] = engine;
    return { engine, pauseMs: deaths.pauseMs };
  }

  /**
   * The node engine cannot pass connections to other workers: of several workers at least one stays native, to accept. A dead
   * worker counts as what it will be: several may die at the same moment.
   */
  #isSpare(worker: PlaneWorker): boolean {
    const isNative = (other: PlaneWorker): boolean =>
      other !== worker && (this.#engines[other.index] ?? other.engine) === 'native';
    return this.workerCount === 1 || this.workers.some(isNative);
  }
}
