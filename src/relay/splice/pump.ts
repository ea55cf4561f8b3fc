// Moving the bytes of a worker's sessions: what is readable and writable is remembered, and each visit to a
// direction goes on until the kernel says EAGAIN or the visit has had its share.
// A direction is a number: 2 × slot is client to destination, 2 × slot + 1 the other; it names its source's side too.
import {
  EAGAIN,
  ECONNABORTED,
  ECONNRESET,
  EHOSTUNREACH,
  EINTR,
  ENETDOWN,
  ENETUNREACH,
  ENOTCONN,
  EPIPE,
  EPOLL_CTL_ADD,
  EPOLL_CTL_DEL,
  EPOLL_EVENT,
  EPOLLERR,
  EPOLLET,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  EPOLLRDHUP,
  ETIMEDOUT,
  type Libc,
} from './libc.js';
import type { Pipes } from './pipes.js';
import { Outcome, type Shared, SLOTS } from './shared.js';

/** One visit moves at most this; then other directions have their turn. */
const VISIT_BYTES = 128 * 1024;
/** The same while small flows are active: what one of them may have to wait for. */
const SHORT_VISIT_BYTES = 32 * 1024;
/** How many bulk visits are short after a small flow moved something: a few milliseconds' worth. */
const SHORT_VISITS = 256;
/** A direction that moved this much in its last visit is bulk: it waits behind those that did not. */
const BULK_BYTES = 32 * 1024;
const COPY_BYTES = 64 * 1024;

/** What a connection does when the other side, or the network between, is gone. Anything else is our own fault. */
const GONE = new Set([
  EPIPE,
  ECONNRESET,
  ECONNABORTED,
  ENOTCONN,
  ETIMEDOUT,
  ENETDOWN,
  ENETUNREACH,
  EHOSTUNREACH,
]);

// Bits of a direction's state. READABLE: its source may have bytes; WRITABLE: its source's socket takes bytes.
const READABLE = 1;
const WRITABLE = 2;
const ENDED = 4;
const PASSED_ON = 8;
const BULK = 16;
const QUEUED = 32;
const NO_PIPE = -1;

export interface Pump {
  /** Begins a session. `done`: which directions have ended and been shut down already. */
  take(slot: number, generation: number, client: number, destination: number, done: number): void;
  /** Lets go of a session, if it is still that one. */
  release(slot: number, generation: number): void;
  /** Lets go of a session, if it is still that one, and of nothing it has taken: `handBack` hears of it instead of `report`. */
  handBack(slot: number, generation: number): void;
  /** An event of epoll, for the side and generation that it was registered with. */
  event(side: number, generation: number, events: number): void;
  /** Gives the next waiting bulk direction its turn; returns false when none waits. */
  visitBulk(): boolean;
}

/** `report` or `handBack` is called once for each session that was taken, when its descriptors are out of the epoll set. */
export function createPump(
  libc: Libc,
  epoll: number,
  pipes: Pipes,
  shared: Shared,
  report: (slot: number, generation: number, outcome: number) => void,
  handBack: (slot: number, generation: number, up: Uint8Array, down: Uint8Array) => void,
): Pump {
  const generations = new Int32Array(SLOTS).fill(-1);
  const fds = new Int32Array(2 * SLOTS).fill(-1);
  const states = new Uint8Array(2 * SLOTS);
  const pipeOf = new Int32Array(2 * SLOTS).fill(NO_PIPE);
  const held = new Int32Array(2 * SLOTS);
  const registration = new Int32Array(EPOLL_EVENT.words);
  const copy = new Uint8Array(COPY_BYTES);
  const { bytes, done } = shared;
  // A ring of directions that had their share and have more. Each is in it at most once.
  const queue = new Int32Array(2 * SLOTS);
  let queueHead = 0;
  let queueLength = 0;
  let shortVisits = 0;

  const is = (direction: number, bits: number): boolean => ((states[direction] ?? 0) & bits) !== 0;
  const set = (direction: number, bits: number): void => {
    states[direction] = (states[direction] ?? 0) | bits;
  };
  const clear = (direction: number, bits: number): void => {
    states[direction] = (states[direction] ?? 0) & ~bits;
  };
  const fdOf = (direction: number): number => fds[direction] ?? -1;
  const pipe = (direction: number): number => pipeOf[direction] ?? NO_PIPE;

  const enqueue = (direction: number): void => {
    if (is(direction, QUEUED)) return;
    set(direction, QUEUED);
    queue[(queueHead + queueLength) % queue.length] = direction;
    queueLength += 1;
  };

  const register = (direction: number, generation: number): boolean => {
    registration[0] = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    registration[EPOLL_EVENT.data] = direction;
    registration[EPOLL_EVENT.data + 1] = generation;
    return libc.epollCtl(epoll, EPOLL_CTL_ADD, fdOf(direction), registration) === 0;
  };

  const letGo = (slot: number): void => {
    generations[slot] = -1;
    for (const direction of [2 * slot, 2 * slot + 1]) {
      libc.epollCtl(epoll, EPOLL_CTL_DEL, fdOf(direction), registration);
      if (pipe(direction) !== NO_PIPE) pipes.discard(pipe(direction));
      pipeOf[direction] = NO_PIPE;
      held[direction] = 0;
      fds[direction] = -1;
      // A place in the queue stays taken until its turn comes.
      states[direction] = (states[direction] ?? 0) & QUEUED;
    }
  };

  const retire = (slot: number, outcome: number): void => {
    const generation = generations[slot] ?? -1;
    letGo(slot);
    report(slot, generation, outcome);
  };

  /** What a direction has taken and could not pass on yet. */
  const drain = (direction: number): Uint8Array => {
    const waiting = new Uint8Array(held[direction] ?? 0);
    for (let at = 0; at < waiting.length; ) {
      const got = libc.read(pipes.readEnd(pipe(direction)), waiting.subarray(at));
      if (got > 0) at += got;
      else if (got === 0 || libc.errno() !== EINTR) throw new Error('a pipe has lost what it held');
    }
    return waiting;
  };

  /** The socket of `side` answered a call with an error. */
  const failed = (side: number): void => {
    const errno = libc.errno();
    const reset = side % 2 === 0 ? Outcome.clientReset : Outcome.destinationReset;
    retire(side >> 1, GONE.has(errno) ? reset : Outcome.failed);
  };

  const passOnEnd = (direction: number): void => {
    // Counted before it is passed on: who sees the FIN may ask.
    done[direction >> 1] = (done[direction >> 1] ?? 0) | (1 << (direction & 1));
    set(direction, PASSED_ON);
    // The socket may be gone already; its own event says so.
    libc.shutdownWrite(fdOf(direction ^ 1));
    if (!is(direction ^ 1, PASSED_ON)) return;
    // This direction ended second: the other's source closed first.
    retire(direction >> 1, direction % 2 === 0 ? Outcome.destinationClosed : Outcome.clientClosed);
  };

  const returnPipeIfEmpty = (direction: number): void => {
    if (pipe(direction) === NO_PIPE || (held[direction] ?? 0) > 0) return;
    pipes.giveBack(pipe(direction));
    pipeOf[direction] = NO_PIPE;
  };

  /** A call on `side` failed: true when it was only not ready (and is now known not to be), false when the session is retired. */
  const again = (side: number, bit: number): boolean => {
    const errno = libc.errno();
    if (errno === EAGAIN) clear(side, bit);
    else if (errno !== EINTR) {
      failed(side);
      return false;
    }
    return true;
  };

  /** Without a pipe: what can be sent is copied, and only what was sent is taken. Returns bytes moved, 0 when stuck, -1 when retired. */
  const moveByCopy = (direction: number): number => {
    const waiting = libc.peek(fdOf(direction), copy);
    if (waiting === 0) set(direction, ENDED);
    if (waiting <= 0) return waiting === 0 || again(direction, READABLE) ? 0 : -1;
    const sent = libc.send(fdOf(direction ^ 1), copy, waiting);
    if (sent < 0) return again(direction ^ 1, WRITABLE) ? 0 : -1;
    libc.discard(fdOf(direction), sent);
    bytes[direction] = (bytes[direction] ?? 0) + sent;
    return sent;
  };

  /** Passes on what is held, as far as the other side takes it; that may retire the session. */
  const flush = (direction: number): void => {
    const waiting = held[direction] ?? 0;
    const out = libc.spliceOut(pipes.readEnd(pipe(direction)), fdOf(direction ^ 1), waiting);
    if (out > 0) held[direction] = waiting - out;
    // Bytes that are in the pipe and yet cannot be read: never seen; not to be tried for ever.
    else if (out === 0) retire(direction >> 1, Outcome.failed);
    else again(direction ^ 1, WRITABLE);
  };

  /** Takes what is there, at most `share`; returns the bytes moved (0: none, now), or -1 when the session is retired. */
  const fill = (direction: number, share: number): number => {
    if (pipe(direction) === NO_PIPE) pipeOf[direction] = pipes.borrow();
    if (pipe(direction) === NO_PIPE) return moveByCopy(direction);
    const taken = libc.spliceIn(fdOf(direction), pipes.writeEnd(pipe(direction)), share);
    if (taken < 0) return again(direction, READABLE) ? 0 : -1;
    if (taken === 0) set(direction, ENDED);
    held[direction] = taken;
    bytes[direction] = (bytes[direction] ?? 0) + taken;
    return taken;
  };

  const visit = (direction: number): void => {
    const generation = generations[direction >> 1];
    const allowed = shortVisits > 0 && is(direction, BULK) ? SHORT_VISIT_BYTES : VISIT_BYTES;
    let share = allowed;
    for (;;) {
      if ((held[direction] ?? 0) > 0) {
        if (!is(direction ^ 1, WRITABLE)) break;
        flush(direction);
        if (generations[direction >> 1] !== generation) return;
      } else if (is(direction, ENDED)) {
        returnPipeIfEmpty(direction);
        if (!is(direction, PASSED_ON)) passOnEnd(direction);
        return;
      } else if (!is(direction, READABLE) || !is(direction ^ 1, WRITABLE)) break;
      else if (share <= 0) {
        enqueue(direction);
        break;
      } else {
        const moved = fill(direction, share);
        if (moved < 0) return;
        share -= moved;
      }
    }
    returnPipeIfEmpty(direction);
    if (allowed - share >= BULK_BYTES) {
      set(direction, BULK);
      if (shortVisits > 0) shortVisits -= 1;
    } else {
      clear(direction, BULK);
      if (share < allowed) shortVisits = SHORT_VISITS;
    }
  };

  return {
    take(slot, generation, client, destination, alreadyDone) {
      generations[slot] = generation;
      for (const direction of [2 * slot, 2 * slot + 1]) {
        fds[direction] = direction % 2 === 0 ? client : destination;
        clear(direction, ~QUEUED);
        if (alreadyDone & (1 << (direction & 1))) set(direction, ENDED | PASSED_ON);
      }
      if (!register(2 * slot, generation) || !register(2 * slot + 1, generation))
        retire(slot, Outcome.failed);
    },
    release(slot, generation) {
      if (generations[slot] === generation) retire(slot, Outcome.released);
    },
    handBack(slot, generation) {
      if (generations[slot] !== generation) return;
      const [up, down] = [drain(2 * slot), drain(2 * slot + 1)];
      letGo(slot);
      handBack(slot, generation, up, down);
    },
    event(side, generation, events) {
      const slot = side >> 1;
      if (generations[slot] !== generation) return;
      if (events & EPOLLERR) {
        retire(slot, side % 2 === 0 ? Outcome.clientReset : Outcome.destinationReset);
        return;
      }
      if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) {
        set(side, READABLE);
        if (is(side, BULK)) enqueue(side);
        else visit(side);
      }
      if (events & (EPOLLOUT | EPOLLHUP) && generations[slot] === generation) {
        set(side, WRITABLE);
        if (is(side ^ 1, BULK)) enqueue(side ^ 1);
        else visit(side ^ 1);
      }
    },
    visitBulk() {
      if (queueLength === 0) return false;
      const direction = queue[queueHead] ?? 0;
      queueHead = (queueHead + 1) % queue.length;
      queueLength -= 1;
      clear(direction, QUEUED);
      if (generations[direction >> 1] !== -1) visit(direction);
      return true;
    },
  };
}
