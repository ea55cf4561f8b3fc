// The splice engine: every relay begins as a stream relay, and one that lives long enough for it to pay is handed
// to a worker at a moment when nothing of it is buffered. Short connections never leave the main thread, and what
// comes under a rate comes back to it.
import type { Socket } from 'node:net';
import type { AccountRates } from '../../core/sessions/rate-limit.js';
import type { Relay, RelayEnd, RelayEngine, RelayOptions } from '../../core/sessions/relay.js';
import { createReadBuffers, type ReadBuffers } from '../read-buffers.js';
import { StreamRelay } from '../stream.js';
import type { RelayWorker, Seat } from './relay-worker.js';
import { DOWN_DONE, Outcome, UP_DONE } from './shared.js';

/** A relay is handed over once it has moved this many chunks, or bytes. */
export interface HandOverPolicy {
  readonly chunks: number;
  readonly bytes: number;
}

// Handing over costs about as much as relaying 20 small chunks.
export const HAND_OVER: HandOverPolicy = { chunks: 16, bytes: 64 * 1024 };

const ENDS: Readonly<Record<number, RelayEnd>> = {
  [Outcome.clientClosed]: 'client-closed',
  [Outcome.destinationClosed]: 'destination-closed',
  [Outcome.clientReset]: 'client-reset',
  [Outcome.destinationReset]: 'destination-reset',
  [Outcome.failed]: 'relay-failed',
  [Outcome.released]: 'ended',
};

/** Returns the engine over workers that already run. When none of them has room a relay simply stays a stream. */
export function createSpliceRelay(workers: readonly RelayWorker[], policy = HAND_OVER): RelayEngine {
  const buffers = createReadBuffers();
  return (client, destination, options) => {
    const relay = new SpliceRelay(workers, policy, buffers, client, destination, options);
    relay.start();
    return relay;
  };
}

class SpliceRelay implements Relay {
  readonly #workers: readonly RelayWorker[];
  readonly #policy: HandOverPolicy;
  readonly #stream: StreamRelay;
  #seat: Seat | null = null;
  #chunks = 0;
  #isEnding = false;
  /** Set once the worker has been asked to hand back. */
  #ratesToCome: AccountRates | null = null;
  // What the worker moved, kept once the seat is another's.
  #seatUp = 0;
  #seatDown = 0;

  constructor(
    workers: readonly RelayWorker[],
    policy: HandOverPolicy,
    buffers: ReadBuffers,
    client: Socket,
    destination: Socket,
    options: RelayOptions,
  ) {
    this.#workers = workers;
    this.#policy = policy;
    this.#stream = new StreamRelay(client, destination, options, buffers, () => this.#onQuiet());
  }

  start(): void {
    this.#stream.start();
  }

  bytesUp(): number {
    return this.#stream.bytesUp() + (this.#seat ? this.#seat.bytesUp() : this.#seatUp);
  }

  bytesDown(): number {
    return this.#stream.bytesDown() + (this.#seat ? this.#seat.bytesDown() : this.#seatDown);
  }

  isHalfClosed(): boolean {
    if (!this.#seat) return this.#stream.isHalfClosed();
    const done = this.#seat.done();
    return done === UP_DONE || done === DOWN_DONE;
  }

  /** While a worker has the descriptors, the sockets are closed when it has let go of them. */
  end(): void {
    if (!this.#seat) this.#stream.end();
    else if (!this.#isEnding) {
      this.#isEnding = true;
      this.#seat.release();
    }
  }

  /** A worker knows no rates: it hands the flow back within a moment. */
  limitRates(rates: AccountRates): void {
    if (!this.#seat) return this.#stream.limitRates(rates);
    if (!this.#ratesToCome) this.#seat.handBack();
    this.#ratesToCome = rates;
  }

  #onQuiet(): void {
    this.#chunks += 1;
    const { chunks, bytes } = this.#policy;
    if (this.#chunks < chunks && this.#stream.bytesUp() + this.#stream.bytesDown() < bytes) return;
    const worker = leastLoaded(this.#workers);
    if (!worker) return;
    const { client, destination, isUpDone, isDownDone } = this.#stream.handOver(() => this.end());
    const done = (isUpDone ? UP_DONE : 0) | (isDownDone ? DOWN_DONE : 0);
    this.#seat = worker.take({
      client,
      destination,
      done,
      onReport: (outcome) => {
        this.#leaveSeat();
        this.#stream.takeBack(ENDS[outcome] ?? 'relay-failed');
      },
      onHandedBack: (left) => this.#onHandedBack(left),
    });
  }

  #onHandedBack({ up, down }: { up: Uint8Array; down: Uint8Array }): void {
    const done = this.#leaveSeat();
    if (this.#isEnding) {
      this.#stream.takeBack('ended');
      return;
    }
    const [isUpDone, isDownDone] = [(done & UP_DONE) !== 0, (done & DOWN_DONE) !== 0];
    this.#stream.resume({ isUpDone, isDownDone, up, down });
    if (this.#ratesToCome) this.#stream.limitRates(this.#ratesToCome);
  }

  /** Keeps the worker's numbers; returns the last of `done()`. */
  #leaveSeat(): number {
    if (!this.#seat) return 0;
    const done = this.#seat.done();
    this.#seatUp = this.#seat.bytesUp();
    this.#seatDown = this.#seat.bytesDown();
    this.#seat = null;
    return done;
  }
}

function leastLoaded(workers: readonly RelayWorker[]): RelayWorker | null {
  let best: RelayWorker | null = null;
  for (const worker of workers) {
    if (worker.hasRoom() && (best === null || worker.load() < best.load())) best = worker;
  }
  return best;
}
