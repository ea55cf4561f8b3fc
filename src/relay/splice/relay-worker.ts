// One relay worker as the main thread sees it: seats for sessions, and what to do when the thread dies.
import { closeSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { ASSOCIATIONS, COUNTS, type DatagramNote, type DatagramOrder } from './datagram-mail.js';
import { allocateShared, type HandedBack, Order, Outcome, SLOTS, viewShared } from './shared.js';

/** A session's place in a worker. After `onReport` was called its numbers stand still. */
export interface Seat {
  bytesUp(): number;
  bytesDown(): number;
  /** UP_DONE and DOWN_DONE bits. */
  done(): number;
  /** Asks the worker to let go; the report follows. */
  release(): void;
  /** Asks the worker to leave both sockets to the main thread as they are; `onHandedBack` follows, or the report of an end. */
  handBack(): void;
}

export interface Passenger {
  readonly client: number;
  readonly destination: number;
  /** UP_DONE and DOWN_DONE bits. */
  readonly done: number;
  // One of these is called, once, when the worker has let go of both descriptors.
  /** `outcome` is one of `Outcome`. */
  readonly onReport: (outcome: number) => void;
  /** Asked for, and the session lives: what the worker had taken and not passed on. */
  readonly onHandedBack: (left: Pick<HandedBack, 'up' | 'down'>) => void;
}

/** A UDP association's place in a worker. */
export interface DatagramSeat {
  /** The worker's numbers, in the order of COUNTS; they stand still once it has released the association. */
  counts(): number[];
  order(order: DatagramOrderBody): void;
}

type Unaddressed<T> = T extends unknown ? Omit<T, 'slot' | 'generation'> : never;
export type DatagramOrderBody = Unaddressed<DatagramOrder>;
export type DatagramNoteBody = Unaddressed<DatagramNote>;

export interface RelayWorker {
  /** Sessions and associations it has now. */
  load(): number;
  /** Whether it lives and has a free seat. */
  hasRoom(): boolean;
  /** Hands it a session; only when it has room. */
  take(passenger: Passenger): Seat;
  /**
   * Hands it a UDP association, by an order of kind 'take'; null when it has no room. `onNote` hears 'released' once
   * and nothing after it: asked for, or because the worker cannot take it, or is dead.
   */
  takeDatagrams(take: DatagramOrderBody, onNote: (note: DatagramNoteBody) => void): DatagramSeat | null;
  /** Writes any order, for what has no method of its own. */
  order(kind: number): void;
  /** Stops the thread. Sessions it still has are reported as failed. */
  close(): Promise<void>;
}

/** Starts a worker; rejects when it cannot run here. `onDeath` is called if it ends without being asked to. */
export async function startRelayWorker(onDeath: (error: Error) => void): Promise<RelayWorker> {
  if (process.platform !== 'linux') throw new Error(`splice is a Linux call; this is ${process.platform}`);
  const buffers = allocateShared();
  const shared = viewShared(buffers);
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: buffers, name: 'relay' });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  });
  worker.unref();

  const one = new Uint8Array(new BigUint64Array([1n]).buffer);
  const passengers = new Map<number, Passenger>();
  const generations = new Int32Array(SLOTS);
  const free = Array.from({ length: SLOTS }, (_, i) => SLOTS - 1 - i);
  let isAlive = true;
  let isClosing = false;

  const send = (kind: number, slot = 0, generation = 0, client = -1, destination = -1, done = 0): void => {
    if (!isAlive) return;
    if (shared.order(kind, slot, generation, client, destination, done))
      writeSync(shared.descriptors[1] ?? -1, one);
  };
  const leave = (slot: number, generation: number): Passenger | null => {
    const passenger = passengers.get(slot);
    if (!passenger || generations[slot] !== generation) return null;
    passengers.delete(slot);
    free.push(slot);
    if (passengers.size === 0) worker.unref();
    return passenger;
  };
  const settle = (slot: number, generation: number, outcome: number): void => {
    leave(slot, generation)?.onReport(outcome);
  };
  const stopAtExit = (): void => send(Order.stop);
  // Node joins its threads at exit, and this one sleeps where only an order wakes it.
  process.on('exit', stopAtExit);

  const post = (order: DatagramOrder): void => {
    if (!isAlive) return;
    worker.postMessage(order);
    if (shared.mailPosted()) send(Order.mail);
  };
  const listeners = new Map<number, (note: DatagramNoteBody) => void>();
  const datagramGenerations = new Int32Array(ASSOCIATIONS);
  const freeAssociations = Array.from({ length: ASSOCIATIONS }, (_, i) => ASSOCIATIONS - 1 - i);
  const takeNote = (note: DatagramNote): void => {
    if (note.kind === 'uncovered') shared.noteTaken(note.slot);
    if (datagramGenerations[note.slot] !== note.generation) return;
    const listener = listeners.get(note.slot);
    if (note.kind === 'released') {
      listeners.delete(note.slot);
      freeAssociations.push(note.slot);
    }
    listener?.(note);
  };

  worker.on('message', (message: 0 | HandedBack | DatagramNote) => {
    if (message === 0) shared.takeReports(settle);
    else if (message.kind !== 'handed-back') takeNote(message);
    else leave(message.slot, message.generation)?.onHandedBack(message);
  });
  let error = new Error('the relay worker ended by itself');
  worker.on('error', (cause: Error) => {
    error = cause;
  });
  worker.once('exit', () => {
    isAlive = false;
    process.off('exit', stopAtExit);
    shared.takeReports(settle);
    for (const fd of shared.descriptors) if (fd > 0) closeSync(fd);
    for (const slot of [...passengers.keys()]) settle(slot, generations[slot] ?? 0, Outcome.failed);
    for (const slot of [...listeners.keys()]) {
      takeNote({ kind: 'released', slot, generation: datagramGenerations[slot] ?? 0 });
    }
    if (!isClosing) onDeath(error);
  });

  return {
    load: () => passengers.size + listeners.size,
    hasRoom: () => isAlive && !isClosing && free.length > 0,
    take(passenger) {
      const slot = free.pop();
      if (slot === undefined) throw new Error('no seat is free');
      if (passengers.size === 0) worker.ref();
      const generation = ((generations[slot] ?? 0) + 1) & 0x7fffffff;
      generations[slot] = generation;
      passengers.set(slot, passenger);
      shared.bytes[2 * slot] = 0;
      shared.bytes[2 * slot + 1] = 0;
      shared.done[slot] = passenger.done;
      send(Order.take, slot, generation, passenger.client, passenger.destination, passenger.done);
      return {
        bytesUp: () => shared.bytes[2 * slot] ?? 0,
        bytesDown: () => shared.bytes[2 * slot + 1] ?? 0,
        done: () => shared.done[slot] ?? 0,
        release: () => send(Order.release, slot, generation),
        handBack: () => send(Order.handBack, slot, generation),
      };
    },
    takeDatagrams(take, onNote) {
      const slot = isAlive && !isClosing ? freeAssociations.pop() : undefined;
      if (slot === undefined) return null;
      const generation = ((datagramGenerations[slot] ?? 0) + 1) & 0x7fffffff;
      datagramGenerations[slot] = generation;
      listeners.set(slot, onNote);
      const at = slot * COUNTS.length;
      shared.datagrams.fill(0, at, at + COUNTS.length);
      post({ ...take, slot, generation });
      return {
        counts: () => [...shared.datagrams.subarray(at, at + COUNTS.length)],
        order: (order) => post({ ...order, slot, generation }),
      };
    },
    order: (kind) => send(kind),
    async close() {
      isClosing = true;
      send(Order.stop);
      worker.ref();
      await exited;
    },
  };
}
