// How a dead worker is restarted: immediately; after repeated deaths with the node driver, and then after a pause.
import type { PlaneWorker } from './plane-worker.js';

/** After this many deaths within DEATHS_MS, the worker is restarted with the node driver. */
const MAX_DEATHS = 3;
const DEATHS_MS = 60_000;
/** Delay before a worker that keeps dying is restarted, in ms. */
const PAUSE_MS = 1_000;

export interface Restart {
  readonly engine: 'native' | 'node';
  readonly pauseMs: number;
}

export class WorkerRestarts {
  readonly #workers: readonly PlaneWorker[];
  readonly #workerCount: number;
  /** Times of deaths within DEATHS_MS, by worker. */
  readonly #deaths: number[][] = [];

  /** @param workers those that run now, by index; of `workerCount` */
  constructor(workers: readonly PlaneWorker[], workerCount: number) {
    this.#workers = workers;
    this.#workerCount = workerCount;
  }

  /** Counts the death of `worker`. @param now monotonic, in ms */
  next(worker: PlaneWorker, now: number): Restart {
    const { index } = worker;
    const deaths = [...(this.#deaths[index] ?? []), now].filter((at) => now - at < DEATHS_MS);
    this.#deaths[index] = deaths;
    const engine = deaths.length >= MAX_DEATHS && this.#isSpare(worker) ? 'node' : worker.engine;
    return { engine, pauseMs: deaths.length > MAX_DEATHS ? PAUSE_MS : 0 };
  }

  /** The node driver cannot pass connections to other workers: of several workers at least one stays native, to accept. */
  #isSpare(worker: PlaneWorker): boolean {
    const isNative = (other: PlaneWorker): boolean => other !== worker && other.engine === 'native';
    return this.#workerCount === 1 || this.#workers.some(isNative);
  }
}
