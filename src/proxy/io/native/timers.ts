// Timers of the native loop: a hashed wheel (Varghese and Lauck, 1987). The cost of setting and clearing a timer does not depend on
// the number of timers. A timer is late by at most one tick.
import type { Timer } from '../../../core/time/timers.js';

const TICK_MS = 4;
const SLOTS = 1024;

class Entry implements Timer {
  previous: Entry | null = null;
  next: Entry | null = null;
  slot = -1;

  constructor(
    readonly dueTick: number,
    readonly callback: () => void,
    readonly wheel: TimerWheel,
  ) {}

  clear(): void {
    this.wheel.remove(this);
  }
}

export class TimerWheel {
  readonly #heads = new Array<Entry | null>(SLOTS).fill(null);
  #tick: number;
  #size = 0;

  /** @param now monotonic, in ms */
  constructor(private readonly now: () => number) {
    this.#tick = Math.floor(now() / TICK_MS);
  }

  set(delayMs: number, callback: () => void): Timer {
    const due = Math.max(this.#tick + 1, Math.ceil((this.now() + Math.max(0, delayMs)) / TICK_MS));
    const entry = new Entry(due, callback, this);
    const slot = due % SLOTS;
    const head = this.#heads[slot] ?? null;
    entry.slot = slot;
    entry.next = head;
    if (head) head.previous = entry;
    this.#heads[slot] = entry;
    this.#size += 1;
    return entry;
  }

  remove(entry: Entry): void {
    if (entry.slot === -1) return;
    if (entry.previous) entry.previous.next = entry.next;
    else this.#heads[entry.slot] = entry.next;
    if (entry.next) entry.next.previous = entry.previous;
    entry.slot = -1;
    entry.previous = null;
    entry.next = null;
    this.#size -= 1;
  }

  /** Calls the callbacks that are due. */
  run(): void {
    const now = Math.floor(this.now() / TICK_MS);
    // After a long pause each slot is checked once, not once for every missed tick.
    const first = Math.max(this.#tick + 1, now - SLOTS + 1);
    this.#tick = now;
    for (let tick = first; tick <= now && this.#size > 0; tick += 1) this.#runSlot(tick % SLOTS, now);
  }

  /** Time until the next timer is due, in ms, at most `mostMs`. */
  idleMs(mostMs: number): number {
    if (this.#size === 0) return mostMs;
    const base = Math.floor(this.now() / TICK_MS);
    const most = Math.min(SLOTS, Math.ceil(mostMs / TICK_MS));
    for (let ahead = this.#tick - base + 1; ahead < most; ahead += 1) {
      for (let entry = this.#heads[(base + ahead + SLOTS) % SLOTS] ?? null; entry; entry = entry.next) {
        if (entry.dueTick <= base + ahead) return Math.max(0, entry.dueTick * TICK_MS - this.now());
      }
    }
    return mostMs;
  }

  #runSlot(slot: number, now: number): void {
    let entry = this.#heads[slot] ?? null;
    while (entry) {
      const isDue = entry.dueTick <= now;
      const current: Entry = entry;
      entry = entry.next;
      if (!isDue) continue;
      this.remove(current);
      current.callback();
      // The callback may have cleared the next entry: start again at the head of the slot.
      if (entry && entry.slot === -1) entry = this.#heads[slot] ?? null;
    }
  }
}
