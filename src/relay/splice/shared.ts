// The memory that the main thread and one relay worker share, and the two queues in it.
// Each queue has one writer and one reader. Neither can overflow: a slot has at most one order of each kind and
// one report under way, and both queues have room for all slots.

import { ASSOCIATIONS, COUNTS } from './datagram-mail.js';

/** Sessions that one worker can hold. */
export const SLOTS = 16_384;
/** Pipes a worker may have; each holds what one blocked direction has taken and cannot yet pass on. */
export const MOST_PIPES = 128;

/** What the main thread orders. */
export const Order = { take: 1, release: 2, stop: 3, mail: 4, handBack: 5 } as const;
/** How the worker reports the end of a session: after it, it touches neither of the descriptors again. */
export const Outcome = {
  clientClosed: 1,
  destinationClosed: 2,
  clientReset: 3,
  destinationReset: 4,
  failed: 5,
  released: 6,
} as const;

/**
 * Worker to main thread, a message: it has let go of a session that it was ordered to hand back and that lives on.
 * `up` and `down` are what it had taken and not passed on.
 */
export interface HandedBack {
  readonly kind: 'handed-back';
  readonly slot: number;
  readonly generation: number;
  readonly up: Uint8Array;
  readonly down: Uint8Array;
}

/** Bits of `doneOf(slot)`, and of a taken session that is already half-closed. */
export const UP_DONE = 1;
export const DOWN_DONE = 2;

const ORDER_WORDS = 6;
const ORDERS = 3 * SLOTS + 3;
const REPORT_WORDS = 3;
const REPORTS = SLOTS + 1;

// Positions in `state`.
const ORDERS_WRITTEN = 0;
const ORDERS_READ = 1;
const REPORTS_WRITTEN = 2;
const REPORTS_READ = 3;
const WORKER_SLEEPS = 4;
const MAIN_TOLD = 5;
const MAIL_WAITS = 6;
const NOTES_WAITING = 7;

export interface Buffers {
  readonly state: SharedArrayBuffer;
  readonly orders: SharedArrayBuffer;
  readonly reports: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
  readonly done: SharedArrayBuffer;
  readonly descriptors: SharedArrayBuffer;
  readonly datagrams: SharedArrayBuffer;
  readonly notes: SharedArrayBuffer;
}

export function allocateShared(): Buffers {
  return {
    state: new SharedArrayBuffer(8 * 4),
    orders: new SharedArrayBuffer(ORDERS * ORDER_WORDS * 4),
    reports: new SharedArrayBuffer(REPORTS * REPORT_WORDS * 4),
    bytes: new SharedArrayBuffer(SLOTS * 2 * 8),
    done: new SharedArrayBuffer(SLOTS),
    descriptors: new SharedArrayBuffer((2 + 2 * MOST_PIPES) * 4),
    datagrams: new SharedArrayBuffer(ASSOCIATIONS * COUNTS.length * 8),
    notes: new SharedArrayBuffer(ASSOCIATIONS * 4),
  };
}

export type Shared = ReturnType<typeof viewShared>;

/** Typed views and queue operations over the same memory, made once in each thread. */
export function viewShared(buffers: Buffers) {
  const state = new Int32Array(buffers.state);
  const orders = new Int32Array(buffers.orders);
  const reports = new Int32Array(buffers.reports);
  const notes = new Int32Array(buffers.notes);
  return {
    /**
     * Bytes taken so far: client at 2 × slot, destination behind it. Written by the worker, read by the main thread
     * at any time: an aligned 64-bit store is whole on the 64-bit machines this runs on.
     */
    bytes: new Float64Array(buffers.bytes),
    /** Per slot: which directions have ended (UP_DONE, DOWN_DONE). */
    done: new Uint8Array(buffers.done),
    /** The worker's own descriptors (epoll set, eventfd, pipes), so that the main thread can close them after a crash; 0: none. */
    descriptors: new Int32Array(buffers.descriptors),

    /** What the worker counted of each association, in the order of COUNTS. */
    datagrams: new Float64Array(buffers.datagrams),

    /** Main thread. Returns true when the worker sleeps and must be woken. */
    order(
      kind: number,
      slot: number,
      generation: number,
      client: number,
      destination: number,
      done: number,
    ): boolean {
      const written = state[ORDERS_WRITTEN] ?? 0;
      const at = written * ORDER_WORDS;
      orders[at] = kind;
      orders[at + 1] = slot;
      orders[at + 2] = generation;
      orders[at + 3] = client;
      orders[at + 4] = destination;
      orders[at + 5] = done;
      Atomics.store(state, ORDERS_WRITTEN, (written + 1) % ORDERS);
      return Atomics.exchange(state, WORKER_SLEEPS, 0) === 1;
    },
    /** Worker. Hands each waiting order to `take`. */
    takeOrders(
      take: (
        kind: number,
        slot: number,
        generation: number,
        client: number,
        destination: number,
        done: number,
      ) => void,
    ): void {
      for (let read = state[ORDERS_READ] ?? 0; read !== Atomics.load(state, ORDERS_WRITTEN); ) {
        const at = read * ORDER_WORDS;
        read = (read + 1) % ORDERS;
        state[ORDERS_READ] = read;
        take(
          orders[at] ?? 0,
          orders[at + 1] ?? 0,
          orders[at + 2] ?? 0,
          orders[at + 3] ?? -1,
          orders[at + 4] ?? -1,
          orders[at + 5] ?? 0,
        );
      }
    },
    /** Worker, before it sleeps: returns false when an order has come in meanwhile. */
    maySleep(): boolean {
      Atomics.store(state, WORKER_SLEEPS, 1);
      if (Atomics.load(state, ORDERS_WRITTEN) === state[ORDERS_READ]) return true;
      Atomics.store(state, WORKER_SLEEPS, 0);
      return false;
    },
    awake(): void {
      Atomics.store(state, WORKER_SLEEPS, 0);
    },

    /** Worker. Returns true when the main thread has not been told of reports yet and must be. */
    report(slot: number, generation: number, outcome: number): boolean {
      const written = state[REPORTS_WRITTEN] ?? 0;
      const at = written * REPORT_WORDS;
      reports[at] = slot;
      reports[at + 1] = generation;
      reports[at + 2] = outcome;
      Atomics.store(state, REPORTS_WRITTEN, (written + 1) % REPORTS);
      return Atomics.exchange(state, MAIN_TOLD, 1) === 0;
    },
    /** Main thread. Hands each waiting report to `take`. */
    takeReports(take: (slot: number, generation: number, outcome: number) => void): void {
      Atomics.store(state, MAIN_TOLD, 0);
      for (let read = state[REPORTS_READ] ?? 0; read !== Atomics.load(state, REPORTS_WRITTEN); ) {
        const at = read * REPORT_WORDS;
        read = (read + 1) % REPORTS;
        state[REPORTS_READ] = read;
        take(reports[at] ?? 0, reports[at + 1] ?? 0, reports[at + 2] ?? 0);
      }
    },

    /** Main thread, after it has posted mail. Returns true when the worker has not been told of mail and must be. */
    mailPosted: () => Atomics.exchange(state, MAIL_WAITS, 1) === 0,
    /** Worker, before it reads its mail. */
    mailSeen: () => void Atomics.store(state, MAIL_WAITS, 0),
    /** Worker. Whether one more note of this association may wait for the main thread; then it counts as waiting. */
    mayTell(slot: number, most: number, mostInAll: number): boolean {
      if (Atomics.load(notes, slot) >= most || Atomics.load(state, NOTES_WAITING) >= mostInAll) return false;
      Atomics.add(notes, slot, 1);
      Atomics.add(state, NOTES_WAITING, 1);
      return true;
    },
    /** Main thread, for each note it has taken. */
    noteTaken(slot: number): void {
      Atomics.sub(notes, slot, 1);
      Atomics.sub(state, NOTES_WAITING, 1);
    },
  };
}
