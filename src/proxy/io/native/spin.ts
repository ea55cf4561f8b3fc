// Whether the loop looks for events for a moment before it sleeps. To fall asleep and to be woken takes the system longer
// than a near destination needs to answer, so that for small flows between near hosts these two are most of the delay.
// Looks that find nothing are given up for longer and longer: beside flows that answer within milliseconds they cost
// next to nothing. On a machine whose cores are all busy the loop sleeps at once, because others need the core.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** How long the loop looks, in ms. */
const LOOK_MS = 0.05;
/** After so many looks in vain no more are made for a while: PAUSE_MS at first, then twice as long each time. */
const MAX_VAIN = 4;
const PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;
/** How long it is believed that cores are free, in ms. */
const BELIEVED_MS = 50;

export interface SpinOptions {
  readonly cores: number;
  /** Threads of the machine that run or want to, this one included; null: not known. */
  readonly countRunning: () => number | null;
}

export class Spin {
  readonly #options: SpinOptions;
  #vain = 0;
  #pauseMs = PAUSE_MS;
  #pausedUntil = 0;
  #believedUntil = 0;

  constructor(options: SpinOptions = { cores: availableParallelism(), countRunning }) {
    this.#options = options;
  }

  /** How long to look for events before a sleep, in ms; 0: sleep at once. `now`: monotonic, in ms. */
  lookMs(now: number): number {
    if (now < this.#pausedUntil) return 0;
    if (now < this.#believedUntil) return LOOK_MS;
    const { cores, countRunning: count } = this.#options;
    // With one core a loop that looks only keeps others from answering.
    const running = cores > 1 ? count() : null;
    if (running === null || running > cores) {
      this.#pausedUntil = now + LONGEST_PAUSE_MS;
      return 0;
    }
    this.#believedUntil = now + BELIEVED_MS;
    return LOOK_MS;
  }

  found(): void {
    this.#vain = 0;
    this.#pauseMs = PAUSE_MS;
  }

  foundNothing(now: number): void {
    this.#vain += 1;
    if (this.#vain < MAX_VAIN) return;
    this.#vain = 0;
    this.#pausedUntil = now + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
  }
}

/** The fourth field of /proc/loadavg (proc(5)): `running/all`. */
function countRunning(): number | null {
  try {
    return Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? null);
  } catch {
    // Not readable here, or no descriptor is left.
    return null;
  }
}
