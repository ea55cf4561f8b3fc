// What is happening now: the rate of every live session, and what the day has brought so far.

import { DAY_MS, MINUTE_MS } from '../clock.js';
import type { Session } from '../sessions/session.js';
import type { LoginOutcome } from './login-log.js';

type Watched = Pick<Session, 'id' | 'accountId' | 'bytesUp' | 'bytesDown'>;

export interface Rate {
  readonly up: number;
  readonly down: number;
}

export interface Moved {
  up: number;
  down: number;
}

/** Counts since midnight UTC, and what a minute's sample takes. */
export interface Counters {
  logins: number;
  failures: number;
  heartbeats: number;
  runs: number;
  bytesUp: number;
  bytesDown: number;
}

export const noCounters = (): Counters => ({
  logins: 0,
  failures: 0,
  heartbeats: 0,
  runs: 0,
  bytesUp: 0,
  bytesDown: 0,
});

/** A class, not a literal: objects made from a literal keep its first, integer form, and are converted one by one. */
class Seen {
  up = 0;
  down = 0;
  rateUp = 0;
  rateDown = 0;
}

/** Shorter spans would make rates of single packets. */
const MIN_SPAN_MS = 500;

export class LiveActivity {
  readonly #seen = new Map<Watched, Seen>();
  readonly #rates = new Map<string, Seen>();
  #byAccount = new Map<string, Moved>();
  #day: number;
  #tickedAt: number;
  readonly today: Counters = noCounters();
  /** Since the start of the daemon. */
  readonly totals: Counters = noCounters();
  /** Logins since the start, by outcome. */
  readonly outcomes = new Map<LoginOutcome, number>();
  #sinceSample: Counters = noCounters();
  /** Heartbeats since the start, at the last ticks of a minute. */
  #beats: { at: number; count: number }[] = [];
  #beatCount = 0;
  readonly #total = new Seen();

  constructor(now: number) {
    this.#day = Math.floor(now / DAY_MS);
    this.#tickedAt = now;
  }

  /** What the day had brought before this start. */
  load(counters: Counters | undefined, byAccount: Iterable<{ id: string; up: number; down: number }>): void {
    for (const name of Object.keys(this.today) as (keyof Counters)[])
      this.today[name] = counters?.[name] ?? 0;
    for (const { id, up, down } of byAccount) this.#byAccount.set(id, { up, down });
  }

  opened(session: Watched): void {
    const seen = new Seen();
    this.#seen.set(session, seen);
    this.#rates.set(session.id, seen);
  }

  closed(session: Watched): void {
    const seen = this.#seen.get(session);
    if (!seen) return;
    this.#count(session, seen);
    this.#seen.delete(session);
    this.#rates.delete(session.id);
  }

  noteLogin(outcome: LoginOutcome): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    const counter = outcome === 'success' ? 'logins' : 'failures';
    this.#add(counter, 1);
  }

  noteHeartbeat(): void {
    this.#beatCount += 1;
    this.#add('heartbeats', 1);
  }

  /** Measures the rates since the last time. Meant to be called every second or two. */
  tick(now: number): void {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#byAccount = new Map();
      Object.assign(this.today, noCounters());
    }
    const spanMs = now - this.#tickedAt;
    if (spanMs >= 0 && spanMs < MIN_SPAN_MS) return;
    this.#tickedAt = now;
    this.#beats = [...this.#beats, { at: now, count: this.#beatCount }].filter(
      ({ at }) => now - at <= MINUTE_MS,
    );
    const seconds = Math.max(spanMs, MIN_SPAN_MS) / 1000;
    const before = { up: this.#total.up, down: this.#total.down };
    for (const [session, seen] of this.#seen) {
      const { up, down } = seen;
      this.#count(session, seen);
      seen.rateUp = (seen.up - up) / seconds;
      seen.rateDown = (seen.down - down) / seconds;
    }
    this.#total.rateUp = (this.#total.up - before.up) / seconds;
    this.#total.rateDown = (this.#total.down - before.down) / seconds;
  }

  /** Bytes a second of a session, as last measured. */
  rateOf(sessionId: string): Rate {
    const seen = this.#rates.get(sessionId);
    return { up: seen?.rateUp ?? 0, down: seen?.rateDown ?? 0 };
  }

  /** Bytes a second of all sessions together. */
  get rate(): Rate {
    return { up: this.#total.rateUp, down: this.#total.rateDown };
  }

  /** Of the last minute. */
  get heartbeatsPerMinute(): number {
    const first = this.#beats.at(0);
    const last = this.#beats.at(-1);
    if (!first || !last || last.at <= first.at) return 0;
    return ((last.count - first.count) * MINUTE_MS) / (last.at - first.at);
  }

  /** Bytes of an account since midnight UTC. */
  todayOf(accountId: string): Readonly<Moved> {
    return this.#byAccount.get(accountId) ?? { up: 0, down: 0 };
  }

  /** The accounts that moved most since midnight UTC. */
  top(limit: number): { id: string; up: number; down: number }[] {
    return Array.from(this.#byAccount, ([id, { up, down }]) => ({ id, up, down }))
      .sort((a, b) => b.up + b.down - a.up - a.down)
      .slice(0, limit);
  }

  forget(accountId: string): void {
    this.#byAccount.delete(accountId);
  }

  /** What was counted since the last call. */
  takeSample(): Counters {
    const taken = this.#sinceSample;
    this.#sinceSample = noCounters();
    return taken;
  }

  #count(session: Watched, seen: Seen): void {
    const up = session.bytesUp() - seen.up;
    const down = session.bytesDown() - seen.down;
    if (up === 0 && down === 0) return;
    seen.up += up;
    seen.down += down;
    this.#total.up += up;
    this.#total.down += down;
    this.#add('bytesUp', up);
    this.#add('bytesDown', down);
    const moved = this.#byAccount.get(session.accountId);
    if (moved) {
      moved.up += up;
      moved.down += down;
    } else this.#byAccount.set(session.accountId, { up, down });
  }

  #add(counter: keyof Counters, by: number): void {
    this.today[counter] += by;
    this.totals[counter] += by;
    this.#sinceSample[counter] += by;
  }
}
