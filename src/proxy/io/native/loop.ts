// The native event loop of a worker: epoll, timers, and queued work. It is synchronous: while it runs it never returns to Node's
// own event loop.
import { performance } from 'node:perf_hooks';
import type { Timer } from '../../../core/time/timers.js';
import type { OwnedDescriptors } from '../../memory/owned-descriptors.js';
import { EINTR, EPOLL_EVENT, EPOLLET, EPOLLIN, type Libc } from './libc.js';
import { TimerWheel } from './timers.js';

/** What a descriptor in the epoll set belongs to. */
export interface Watcher {
  /** @param events EPOLLIN, EPOLLOUT, … of epoll_wait */
  ready(events: number): void;
}

/** A descriptor's index in the loop; NOT_WATCHED: it has none. A number, because every idle session keeps some. */
export type Registration = number;
export const NOT_WATCHED: Registration = -1;

/** Queued work. An object that exists anyway implements it, so that queueing allocates nothing. */
export interface Task {
  run(): void;
}

interface LoopHooks {
  /** Before the events of each turn: reads the channel. */
  turn(): void;
  /** Called before the loop would sleep; returns how long it may sleep, in ms. */
  beforeSleep(): number;
}

const EVENTS = 256;
/** Index of the eventfd that wakes the loop. */
const WAKE = 0;
const LONGEST_SLEEP_MS = 1_000;
/** How long queued work may take before events are read again, in ms; a short visit to a bulk flow takes longer. */
const WORK_MS = 0.01;

export class Loop {
  readonly libc: Libc;
  readonly pace = new Pace();
  readonly #owned: OwnedDescriptors;
  readonly #epoll: number;
  readonly #wakeFd: number;
  readonly #wheel: TimerWheel;
  readonly #watchers: (Watcher | null)[] = [null];
  readonly #generations: number[] = [0];
  readonly #free: number[] = [];
  /** Queued work, such as bulk flows; the oldest first. */
  #work: Task[] = [];
  #isStopped = false;
  /** Milliseconds of the monotonic clock, read once a turn. */
  #now = performance.now();

  /** @param owned marks the descriptors of this worker, so that the main thread can close them when this thread has died */
  constructor(libc: Libc, owned: OwnedDescriptors) {
    this.libc = libc;
    this.#owned = owned;
    this.#epoll = this.#must('epoll_create1', libc.epollCreate());
    this.#wakeFd = this.#must('eventfd', libc.eventFd());
    this.own(this.#epoll);
    this.own(this.#wakeFd);
    // Edge-triggered, and never read: each write wakes the loop, also one between a look at the messages and the next sleep.
    this.#must('epoll_ctl', libc.epollAdd(this.#epoll, this.#wakeFd, EPOLLIN | EPOLLET, WAKE, 0));
    this.#wheel = new TimerWheel(() => this.#now);
  }

  /** An eventfd: writing to it (8 bytes, the number 1) ends the loop's sleep. */
  get wakeFd(): number {
    return this.#wakeFd;
  }

  now(): number {
    return this.#now;
  }

  timer(delayMs: number, callback: () => void): Timer {
    return this.#wheel.set(delayMs, callback);
  }

  /** Marks a descriptor as this worker's. */
  own(fd: number): void {
    this.#owned.add(fd);
  }

  /** Closes a descriptor of this worker, which also removes it from the epoll set. */
  close(fd: number): void {
    this.#owned.remove(fd);
    this.libc.close(fd);
  }

  /** The descriptor no longer belongs to this worker. */
  disown(fd: number): void {
    this.#owned.remove(fd);
  }

  /** Adds a descriptor to the epoll set; NOT_WATCHED when the system refuses (ENOSPC, ENOMEM). */
  add(fd: number, events: number, watcher: Watcher): Registration {
    const index = this.#free.pop() ?? this.#newIndex();
    const generation = this.#generations[index] ?? 0;
    if (this.libc.epollAdd(this.#epoll, fd, events, index, generation) !== 0) {
      this.#free.push(index);
      return NOT_WATCHED;
    }
    this.#watchers[index] = watcher;
    return index;
  }

  #newIndex(): number {
    this.#generations.push(0);
    return this.#watchers.push(null) - 1;
  }

  /** Sends the events of a descriptor to another watcher from now on. */
  rewatch(index: Registration, watcher: Watcher): void {
    this.#watchers[index] = watcher;
  }

  /** Ends a registration: its events are no longer reported. Call it before the descriptor is closed. */
  remove(fd: number, index: Registration, isClosing = true): void {
    if (!isClosing) this.libc.epollRemove(this.#epoll, fd);
    this.#watchers[index] = null;
    this.#generations[index] = ((this.#generations[index] ?? 0) + 1) | 0;
    this.#free.push(index);
  }

  /** Runs `task` once, after the events of this turn or of one soon after it. */
  later(task: Task): void {
    this.#work.push(task);
  }

  /** Runs until `stop`. */
  run(hooks: LoopHooks): void {
    const events = new Int32Array(EVENTS * EPOLL_EVENT.words);
    while (!this.#isStopped) {
      const sleepMs =
        this.#work.length > 0 ? 0 : this.#wheel.idleMs(Math.min(LONGEST_SLEEP_MS, hooks.beforeSleep()));
      const count = this.libc.epollWait(this.#epoll, events, EVENTS, Math.ceil(sleepMs));
      this.#now = performance.now();
      if (count < 0 && this.libc.errno() !== EINTR)
        throw new Error(`epoll_wait failed, errno ${this.libc.errno()}`);
      hooks.turn();
      if (this.#isStopped) return;
      this.#dispatch(events, count);
      this.#wheel.run();
      this.#doWork();
      if (this.pace.isRestDue(count, this.#now) && this.#work.length === 0) this.libc.rest(REST_US);
    }
  }

  /** `run` returns after the turn in which this is called; when the hook `turn` calls it, before the turn's events. */
  stop(): void {
    this.#isStopped = true;
  }

  #dispatch(events: Int32Array, count: number): void {
    for (let at = 0; at < count * EPOLL_EVENT.words; at += EPOLL_EVENT.words) {
      const index = events[at + EPOLL_EVENT.data] ?? WAKE;
      const generation = events[at + EPOLL_EVENT.data + 1] ?? 0;
      if (this.#generations[index] === generation) this.#watchers[index]?.ready(events[at] ?? 0);
    }
  }

  /** Runs queued work for at most WORK_MS, so that sockets that are ready by then are served first. */
  #doWork(): void {
    if (this.#work.length === 0) return;
    const work = this.#work;
    const until = performance.now() + WORK_MS;
    this.#work = [];
    for (const [i, each] of work.entries()) {
      each.run();
      if (i + 1 === work.length || performance.now() < until) continue;
      // Work that was added meanwhile comes after the rest of this list.
      this.#work = [...work.slice(i + 1), ...this.#work];
      return;
    }
  }

  #must(call: string, result: number): number {
    if (result < 0) throw new Error(`${call} failed, errno ${this.libc.errno()}`);
    return result;
  }
}

/** A rest, in µs: short beside what a datagram takes through any network. */
const REST_US = 10;
const BUSY_PER_MS = 32;
/** After a turn that found this many datagrams, the loop does not rest. */
const ENOUGH = 16;

/**
 * While tens of thousands of datagrams arrive per second, a loop that reads at once finds two or three at a time, and receiving and
 * sending three costs nearly as much as ten. While few arrive, each is moved at once.
 */
export class Pace {
  #windowAt = 0;
  #inWindow = 0;
  #isBusy = false;
  #inTurn = 0;
  #sockets = 0;

  /** A socket has been read for `datagrams` datagrams. */
  received(datagrams: number): void {
    this.#sockets += 1;
    this.#inTurn += datagrams;
  }

  /** Whether to rest after this turn. @param events number of events of the turn: when other sockets were ready too, the loop does not rest */
  isRestDue(events: number, nowMs: number): boolean {
    if (this.#sockets === 0) return false;
    this.#inWindow += this.#inTurn;
    if (nowMs - this.#windowAt >= 1) {
      this.#isBusy = this.#inWindow >= BUSY_PER_MS * (nowMs - this.#windowAt);
      this.#windowAt = nowMs;
      this.#inWindow = 0;
    }
    const isDue = this.#isBusy && this.#inTurn < ENOUGH && this.#sockets === events;
    this.#sockets = 0;
    this.#inTurn = 0;
    return isDue;
  }
}
