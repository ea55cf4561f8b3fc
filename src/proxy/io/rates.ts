// A rate shared fairly: one token bucket for all flows of an account in one direction.
// Whoever has moved least goes next (start-time fair queueing), in pieces small enough that the flow looks smooth.
import type { Clock, Timer } from './basics.js';

/** One flow's claim on a shared rate. */
export interface FlowShare {
  /**
   * How many of `wanted` bytes may be moved now. 0: none yet, and `onTurn` is called once when it is worth asking again.
   */
  take(wanted: number): number;
  /** The flow is over: it waits for nothing any more. */
  end(): void;
}

export interface SharedRate {
  /** Bytes per second from now on, at least 1; Infinity is no limit. */
  setRate(bytesPerSecond: number): void;
  join(onTurn: () => void): FlowShare;
  /**
   * Whether a datagram of `bytes` may pass now. One that may not is dropped by its owner: to hold it back would make
   * it late, and senders of datagrams slow down by loss.
   */
  pass(bytes: number): boolean;
}

/** What a bucket holds at most: so much of a second may pass at once after a pause. */
const BURST_S = 0.1;
/** Never less than this, in bytes: a whole datagram and a chunk worth a system call. */
const LEAST_BURST = 2048;
/** A flow's turn while others wait, as part of a second, within bounds in bytes. */
const TURN_S = 0.02;
const SMALLEST_TURN = 512;
const LARGEST_TURN = 65_536;
/** What a flow may catch up on that had nothing to move for a moment, as part of a second: no more, or others stall. */
const CLAIM_S = 0.25;
/** The shortest wait between two looks, in ms: finer timers cost more than they smooth. */
const LEAST_WAIT_MS = 5;

interface Flow {
  readonly onTurn: () => void;
  /** Bytes moved, as if the flow had always been there: the smallest goes next. */
  moved: number;
}

/** The rates of one account. */
export interface AccountRates {
  readonly up: SharedRate;
  readonly down: SharedRate;
}

export function createSharedRate(bytesPerSecond: number, clock: Clock): SharedRate {
  let rate = bytesPerSecond;
  let tokens = burst(rate);
  let filledAt = clock.now();
  let timer: Timer | null = null;
  /** `moved` of the flow that went last: close to where a flow joins that was quiet, so that it cannot claim the past. */
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
      // It takes what it can use, which may be nothing, and waits again if that was not all.
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
      // A datagram larger than the bucket passes when the bucket is full, and is paid off afterwards.
      if (tokens < Math.min(bytes, burst(rate))) return false;
      tokens -= bytes;
      return true;
    },
  };
}

function burst(rate: number): number {
  return Math.max(LEAST_BURST, rate * BURST_S);
}

function turn(rate: number): number {
  return Math.min(LARGEST_TURN, Math.max(SMALLEST_TURN, Math.floor(rate * TURN_S)));
}
