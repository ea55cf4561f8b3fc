// Watches the workers' loops: one that stands still is ended, and the caller is notified when even that does not help.
import type { Log } from '../core/log.js';
import type { PlaneWorker } from './plane-worker.js';
import type { Gauges } from './shared.js';

/** A loop that has not turned for so long is stuck, in ms. */
const STUCK_MS = 5_000;
/** A thread that starts on a loaded machine may need this many times as long for its first turn. */
const START_FACTOR = 6;
/** How often the workers are looked at, as a part of what makes one stuck. */
const LOOKS = 5;
/** After so many looks without a turn the worker counts as not alive. */
const QUIET_LOOKS = 3;

export interface PlaneWatchOptions {
  readonly workers: readonly PlaneWorker[];
  readonly gauges: Gauges;
  readonly log: Log;
  /** STUCK_MS unless given. */
  readonly stuckMs: number | undefined;
  /** A worker's thread does not end: code that V8 cannot interrupt, or a call into the system that does not return. */
  readonly onUnendable: () => void;
}

interface Seen {
  turns: number;
  /** For how long the loop has been seen not to turn, in ms. */
  quietMs: number;
  isUnendable: boolean;
}

export class PlaneWatch {
  readonly #options: PlaneWatchOptions;
  readonly #stuckMs: number;
  readonly #seen = new WeakMap<PlaneWorker, Seen>();
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(options: PlaneWatchOptions) {
    this.#options = options;
    this.#stuckMs = options.stuckMs ?? STUCK_MS;
  }

  start(): void {
    this.#lookedAt = performance.now();
    this.#timer = setInterval(() => this.#look(), this.#stuckMs / LOOKS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Whether the worker serves and its loop turns. False for a while before a stuck one is ended. */
  isAlive(worker: PlaneWorker): boolean {
    const quietMs = this.#seen.get(worker)?.quietMs ?? 0;
    return worker.isStarted && !worker.isOver && quietMs < (this.#stuckMs * QUIET_LOOKS) / LOOKS;
  }

  /** Time in which the whole process stood still (SIGSTOP, a suspended machine) counts as one look. */
  #look(): void {
    const now = performance.now();
    const sinceMs = Math.min(now - this.#lookedAt, (2 * this.#stuckMs) / LOOKS);
    this.#lookedAt = now;
    for (const worker of this.#options.workers) {
      const seen = this.#seen.get(worker) ?? { turns: 0, quietMs: 0, isUnendable: false };
      this.#seen.set(worker, seen);
      const turns = this.#options.gauges.getSign(worker.index, 'turns');
      seen.quietMs = turns === seen.turns ? seen.quietMs + sinceMs : 0;
      seen.turns = turns;
      const limitMs = worker.isStarted || worker.isStopping ? this.#stuckMs : START_FACTOR * this.#stuckMs;
      if (seen.quietMs >= limitMs && !worker.isOver) this.#end(worker, seen);
    }
  }

  #end(worker: PlaneWorker, seen: Seen): void {
    const { log, onUnendable } = this.#options;
    if (!worker.isStopping) {
      log.error({ worker: worker.index }, 'proxy worker does not respond; ending it');
      worker.isStopping = true;
      void worker.thread.terminate();
    } else if (seen.quietMs >= 2 * this.#stuckMs && !seen.isUnendable) {
      seen.isUnendable = true;
      log.error({ worker: worker.index }, 'proxy worker cannot be ended; the daemon must be started again');
      onUnendable();
    }
  }
}
