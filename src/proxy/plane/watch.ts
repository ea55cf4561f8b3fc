// Watches the workers' loops: terminates a worker whose loop is stuck, and notifies the caller when that fails.
import type { Log } from '../../core/log.js';
import { nodeTimers, type Timer } from '../../core/time/timers.js';
import type { Gauges } from '../memory/shared.js';
import type { PlaneWorker } from './worker-handle.js';

/** A loop without a turn for this time is stuck, in ms. */
const STUCK_MS = 5_000;
/** On a loaded machine a starting thread may need this many times as long for its first turn. */
const START_FACTOR = 6;
/** Number of checks within `stuckMs`. */
const CHECKS = 5;
/** After this many checks without a turn, `isAlive` is false. */
const QUIET_CHECKS = 3;

export interface PlaneWatchOptions {
  readonly workers: readonly PlaneWorker[];
  readonly gauges: Gauges;
  readonly log: Log;
  /** In ms; default STUCK_MS. */
  readonly stuckMs: number | undefined;
  /** A worker's thread does not terminate: it runs code that V8 cannot interrupt, or a system call that does not return. */
  readonly onTerminateFailed: () => void;
}

interface Seen {
  turns: number;
  /** What it takes to start says nothing about its loop. */
  isStarted: boolean;
  /** Time since the last observed turn of the loop, in ms. */
  quietMs: number;
  isReported: boolean;
}

export class PlaneWatch {
  readonly #stuckMs: number;
  readonly #seen = new WeakMap<PlaneWorker, Seen>();
  #timer: Timer | undefined;
  #checkedAt = 0;

  constructor(private readonly options: PlaneWatchOptions) {
    this.#stuckMs = options.stuckMs ?? STUCK_MS;
  }

  start(): void {
    this.#checkedAt = performance.now();
    this.#timer = nodeTimers.every(this.#stuckMs / CHECKS, () => this.#check());
  }

  stop(): void {
    this.#timer?.clear();
  }

  /** Whether the worker serves and its loop turns. False for a while before a stuck worker is terminated. */
  isAlive(worker: PlaneWorker): boolean {
    const quietMs = this.#seen.get(worker)?.quietMs ?? 0;
    return worker.isStarted && !worker.isOver && quietMs < (this.#stuckMs * QUIET_CHECKS) / CHECKS;
  }

  /** Time during which the whole process was stopped (SIGSTOP, suspend) counts at most as two checks. */
  #check(): void {
    const now = performance.now();
    const sinceMs = Math.min(now - this.#checkedAt, (2 * this.#stuckMs) / CHECKS);
    this.#checkedAt = now;
    for (const worker of this.options.workers) {
      const seen = this.#seen.get(worker) ?? { turns: 0, isStarted: false, quietMs: 0, isReported: false };
      this.#seen.set(worker, seen);
      const turns = this.options.gauges.getSign(worker.index, 'turns');
      const isQuiet = turns === seen.turns && worker.isStarted === seen.isStarted;
      seen.quietMs = isQuiet ? seen.quietMs + sinceMs : 0;
      seen.turns = turns;
      seen.isStarted = worker.isStarted;
      const limitMs = worker.isStarted || worker.isStopping ? this.#stuckMs : START_FACTOR * this.#stuckMs;
      if (seen.quietMs >= limitMs && !worker.isOver) this.#end(worker, seen);
    }
  }

  #end(worker: PlaneWorker, seen: Seen): void {
    const { log, onTerminateFailed } = this.options;
    if (!worker.isStopping) {
      log.error({ worker: worker.index }, 'proxy worker does not respond; terminating');
      worker.isStopping = true;
      void worker.thread.terminate();
    } else if (seen.quietMs >= 2 * this.#stuckMs && !seen.isReported) {
      seen.isReported = true;
      log.error({ worker: worker.index }, 'proxy worker cannot be terminated; restart the daemon');
      onTerminateFailed();
    }
  }
}
