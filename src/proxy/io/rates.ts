// A rate limit that the flows of an account share fairly: one token bucket for each account and direction. The flow that has
// transferred least is next (start-time fair queueing), in small pieces, so that the transfer is smooth.
import type { Timer } from '../../core/time/timers.js';

export interface EngineClock {
  /** Monotonic time in ms. */
  now(): number;
  /** Calls `callback` once, after `delayMs` or up to 10 ms later. */
  timer(delayMs: number, callback: () => void): Timer;
}

export interface FlowShare {
  /**
   * How many of `wanted` bytes may be transferred now. 0: none yet; `onTurn` is called once when the flow should try again.
   */
  take(wanted: number): number;
  /** Ends the flow; `onTurn` is not called any more. */
  end(): void;
}

export interface SharedRate {
  /** Sets the rate in bytes per second, at least 1; Infinity: no limit. */
  setRate(bytesPerSecond: number): void;
  join(onTurn: () => void): FlowShare;
  /**
   * Whether a datagram of `bytes` may be sent now. Otherwise the caller drops it, because a queue would delay it, and senders
   * of datagrams slow down after loss.
   */
  pass(bytes: number): boolean;
}

/** Size of the bucket, as part of a second: the burst after a pause. */
const BURST_S = 0.1;
/** Minimum size of the bucket, in bytes: a whole datagram, and a chunk that is worth a system call. */
const LEAST_BURST = 2048;
/** Share of one turn while other flows wait, as part of a second, within limits in bytes. */
const TURN_S = 0.02;
const SMALLEST_TURN = 512;
const LARGEST_TURN = 65_536;
/** How much a flow may catch up after it was idle, as part of a second; more would stall other flows. */
const CLAIM_S = 0.25;
/** Minimum delay of the timer, in ms. */
const LEAST_WAIT_MS = 5;

interface Flow {
  readonly onTurn: () => void;
  /** Virtual number of transferred bytes; the flow with the smallest is next. */
  moved: number;
}

export interface AccountRates {
  readonly up: SharedRate;
  readonly down: SharedRate;
}

export function createSharedRate(bytesPerSecond: number, clock: EngineClock): SharedRate {
  let rate = bytesPerSecond;
  let tokens = burst(rate);
  let filledAt = clock.now();
  let timer: Timer | null = null;
  /** `moved` of the last served flow: a flow that was idle starts near this value, so that it gets no credit for the idle time. */
  let served = 0;
  const waiting = new Set<Flow>();

  function fill(): void {
    const at = clock.now();
    tokens =
      rate === Number.POSITIVE_INFINITY
        ? rate
        : Math.min(burst(rate), tokens + ((at - filledAt) / 1000) * rate);
    filledAt = at;
  }

  function next(): Flow | null {
    let least: Flow | null = null;
    for (const flow of waiting) if (least === null || flow.moved < least.moved) least = flow;
    return least;
  }

  function wait(flow: Flow): 0 {
    waiting.add(flow);
    timer ??= clock.timer(Math.max(LEAST_WAIT_MS, ((turn(rate) - tokens) / rate) * 1000), serve);
    return 0;
  }

  function serve(): void {
    timer = null;
    fill();
    while (tokens >= turn(rate)) {
      const flow = next();
      if (flow === null) return;
      // It uses what it can, possibly nothing, and waits again if it needs more.
      waiting.delete(flow);
      flow.onTurn();
    }
    const first = next();
    if (first !== null) wait(first);
  }

  return {
    setRate(changed) {
      fill();
      rate = changed;
      tokens = Math.min(tokens, burst(rate));
      timer?.clear();
      serve();
    },

    join(onTurn) {
      const flow: Flow = { onTurn, moved: served };
      return {
        take(wanted) {
          fill();
          flow.moved = Math.max(flow.moved, served - rate * CLAIM_S);
          const piece = Math.min(wanted, turn(rate));
          const first = next();
          const isTurn = first === null || first === flow || flow.moved <= first.moved;
          if (!isTurn || tokens < piece) return wait(flow);
          waiting.delete(flow);
          const taken = waiting.size === 0 ? Math.min(wanted, Math.floor(tokens)) : piece;
          tokens -= taken;
          served = Math.max(served, flow.moved);
          flow.moved += taken;
          return taken;
        },
        end() {
          waiting.delete(flow);
          if (waiting.size > 0 || timer === null) return;
          timer.clear();
          timer = null;
        },
      };
    },

    pass(bytes) {
      fill();
      // A datagram larger than the bucket is sent when the bucket is full, and the debt delays later ones.
      if (tokens < Math.min(bytes, burst(rate))) return false;
      tokens -= bytes;
      return true;
    },
  };
}

const burst = (rate: number): number => Math.max(LEAST_BURST, rate * BURST_S);

function turn(rate: number): number {
  return Math.min(LARGEST_TURN, Math.max(SMALLEST_TURN, Math.floor(rate * TURN_S)));
}

/** What an account may still transfer. Its sessions share it, and its worker counts it down. */
export class Quota {
  /** In bytes; below 0 by no more than one datagram, or what one side sent ahead of the relay. */
  left: number;
  #isReported = false;
  readonly #onUsedUp: () => void;

  /** @param onUsedUp called once, when `spend` has used it up; must not end a transfer before it returns */
  constructor(left: number, onUsedUp: () => void) {
    this.left = left;
    this.#onUsedUp = onUsedUp;
  }

  /** Counts bytes that are transferred; negative: bytes that were counted and not transferred after all. */
  spend(bytes: number): void {
    this.left -= bytes;
    if (this.left > 0 || this.#isReported) return;
    this.#isReported = true;
    this.#onUsedUp();
  }
}

/** Whose quota a transfer counts for. `quota` may change at any time; null: none. While none is left, nothing is transferred. */
export interface QuotaHolder {
  readonly quota: Quota | null;
}

/** What limits and counts the bytes of a session. */
export interface Meter {
  /** The rates that the account's sessions share; null: none. */
  readonly rates: AccountRates | null;
  /** Pays for the bytes. While its quota is used up, none are transferred. */
  readonly account: QuotaHolder;
  /** Where bytes, of a datagram without its SOCKS header, are counted before they are sent: up at `countAt`, down at `countAt + 1`. */
  readonly counts: Float64Array;
  readonly countAt: number;
}

/** Counts bytes of a session at `at`. Negative: they were counted and not transferred after all. */
export function count({ account, counts }: Meter, at: number, bytes: number): void {
  account.quota?.spend(bytes);
  counts[at] = (counts[at] ?? 0) + bytes;
}
