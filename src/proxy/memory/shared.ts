// Shared memory of all threads: counts over all workers, and for each worker the turns of its loop and flags; and how another
// thread wakes the loop of a native worker.
import { writeSync } from 'node:fs';

/** Counted by every worker, read over all of them. */
type Gauge = 'connections' | 'handshakes' | 'sessions' | 'fragmentBytes';
const GAUGES: readonly Gauge[] = ['connections', 'handshakes', 'sessions', 'fragmentBytes'];
/** Values of each worker. */
type Sign =
  /** The worker increments it in every turn of its loop; a loop whose number does not change is stuck. */
  | 'turns'
  /** A sender increments it after each message to the worker. */
  | 'messages'
  /** 1 while the worker has events that it has not sent yet. */
  | 'eventsWaiting'
  /** Batches of events that the control plane has read. */
  | 'batchesRead'
  /** Places of the account that has most of them; see places.ts. */
  | 'mostPlaces';
const SIGNS: readonly Sign[] = ['turns', 'messages', 'eventsWaiting', 'batchesRead', 'mostPlaces'];
export const MAX_WORKERS = 16;
const PER_WORKER = GAUGES.length + SIGNS.length;

export type Gauges = ReturnType<typeof viewGauges>;

export function allocateGauges(): SharedArrayBuffer {
  return new SharedArrayBuffer((GAUGES.length + MAX_WORKERS * PER_WORKER) * Int32Array.BYTES_PER_ELEMENT);
}

export function viewGauges(memory: SharedArrayBuffer) {
  const words = new Int32Array(memory);
  const gaugeAt = (worker: number, gauge: Gauge): number =>
    GAUGES.length + worker * PER_WORKER + GAUGES.indexOf(gauge);
  const signAt = (worker: number, sign: Sign): number =>
    GAUGES.length + worker * PER_WORKER + GAUGES.length + SIGNS.indexOf(sign);
  return {
    /** Adds to a worker's count; returns the new sum over all workers. */
    add(worker: number, gauge: Gauge, by: number): number {
      Atomics.add(words, gaugeAt(worker, gauge), by);
      return Atomics.add(words, GAUGES.indexOf(gauge), by) + by;
    },
    /** Moves one from the count of `from` to that of `to`; the sum stays. */
    move(from: number, to: number, gauge: Gauge): void {
      Atomics.sub(words, gaugeAt(from, gauge), 1);
      Atomics.add(words, gaugeAt(to, gauge), 1);
    },
    getOf: (worker: number, gauge: Gauge): number => Atomics.load(words, gaugeAt(worker, gauge)),
    /** Over all workers. */
    get: (gauge: Gauge): number => Atomics.load(words, GAUGES.indexOf(gauge)),
    /** Removes the counts of a dead worker. */
    clear(worker: number): void {
      for (const gauge of GAUGES) {
        const counted = Atomics.exchange(words, gaugeAt(worker, gauge), 0);
        Atomics.sub(words, GAUGES.indexOf(gauge), counted);
      }
      for (const sign of SIGNS) Atomics.store(words, signAt(worker, sign), 0);
    },
    addSign: (worker: number, sign: Sign, by: number): number =>
      Atomics.add(words, signAt(worker, sign), by) + by,
    setSign: (worker: number, sign: Sign, value: number): void =>
      void Atomics.store(words, signAt(worker, sign), value),
    getSign: (worker: number, sign: Sign): number => Atomics.load(words, signAt(worker, sign)),
  };
}

const INCREMENT = new Uint8Array(new BigUint64Array([1n]).buffer);

/** Increments the worker's eventfd (eventfd(2)); does nothing for -1, and when the worker has just died. */
export function wake(wakeFd: number): void {
  if (wakeFd === -1) return;
  try {
    writeSync(wakeFd, INCREMENT);
  } catch {
    // The worker's successor gets everything that it needs.
  }
}
