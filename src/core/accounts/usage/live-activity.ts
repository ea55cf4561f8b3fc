// Current activity: the rate of every live session, and the counts of the current day.
import { addToCount } from '../../maps.js';
import { MINUTE_MS } from '../../time/clock.js';
import type { LoginOutcome } from '../access/login-log.js';
import type { Calendar } from './calendar.js';
import { addBytes, type ByteCount } from './usage.js';

/** Bytes per second. */
type Rate = Readonly<ByteCount>;

/** Counts since midnight (see calendar.ts), and the counts of a one-minute sample. */
export interface Counters {
  logins: number;
  failures: number;
  heartbeats: number;
  runs: number;
  bytesUp: number;
  bytesDown: number;
}

const noCounters = (): Counters => ({
  logins: 0,
  failures: 0,
  heartbeats: 0,
  runs: 0,
  bytesUp: 0,
  bytesDown: 0,
});

const NO_RATE: Rate = { up: 0, down: 0 };

/** Minimum time between two measurements: shorter times would measure single packets. */
const MIN_SPAN_MS = 500;

export class LiveActivity {
  /** Bytes of sessions since the last measurement, by id. */
  #bytes = new Map<string, ByteCount>();
  #totalBytes: ByteCount = { up: 0, down: 0 };
  /** Rates of the sessions that transferred bytes before the last measurement, by id. */
  #rates = new Map<string, Rate>();
  #rate: Rate = NO_RATE;
  #byAccount = new Map<string, ByteCount>();
  readonly #calendar: Calendar;
  #day: number | null;
  #tickedAt: number;
  readonly today: Counters = noCounters();
  /** Since the start of the daemon. */
  readonly totals: Counters = noCounters();
  /** Logins since the start, by outcome. */
  readonly outcomes = new Map<LoginOutcome, number>();
  #sinceSample: Counters = noCounters();
  /** Heartbeat counts since the start, at the ticks of the last minute. */
  #heartbeatTicks: { at: number; count: number }[] = [];
  #heartbeatCount = 0;

  constructor(now: number, calendar: Calendar) {
    this.#calendar = calendar;
    this.#day = calendar.periodStart('day', now);
    this.#tickedAt = now;
  }

  /** Loads the counts of the current day from before this start: its samples, and the traffic of each account. */
  load(samples: readonly Counters[], byAccount: Iterable<{ id: string; up: number; down: number }>): void {
    for (const name of Object.keys(this.today) as (keyof Counters)[])
      this.today[name] = samples.reduce((sum, counters) => sum + counters[name], 0);
    for (const { id, up, down } of byAccount) this.#byAccount.set(id, { up, down });
  }

  addTraffic(sessionId: string, accountId: string, up: number, down: number): void {
    addBytes(this.#bytes, sessionId, up, down);
    addBytes(this.#byAccount, accountId, up, down);
    this.#totalBytes.up += up;
    this.#totalBytes.down += down;
    this.#add('bytesUp', up);
    this.#add('bytesDown', down);
  }

  /** Forgets the rate of an ended session. */
  closed(sessionId: string): void {
    this.#bytes.delete(sessionId);
    this.#rates.delete(sessionId);
  }

  countLogin(outcome: LoginOutcome): void {
    addToCount(this.outcomes, outcome, 1);
    const counter = outcome === 'success' ? 'logins' : 'failures';
    this.#add(counter, 1);
  }

  countHeartbeat(): void {
    this.#heartbeatCount += 1;
    this.#add('heartbeats', 1);
  }

  /** Measures the rates since the last call. Call it every second or two. */
  tick(now: number): void {
    const day = this.#calendar.periodStart('day', now);
    if (day !== this.#day) {
      this.#day = day;
      this.#byAccount = new Map();
      Object.assign(this.today, noCounters());
    }
    const spanMs = now - this.#tickedAt;
    if (spanMs >= 0 && spanMs < MIN_SPAN_MS) return;
    this.#tickedAt = now;
    this.#heartbeatTicks = [...this.#heartbeatTicks, { at: now, count: this.#heartbeatCount }].filter(
      ({ at }) => now - at <= MINUTE_MS,
    );
    const seconds = Math.max(spanMs, MIN_SPAN_MS) / 1000;
    const perSecond = ({ up, down }: ByteCount): Rate => ({ up: up / seconds, down: down / seconds });
    this.#rates = new Map(Array.from(this.#bytes, ([id, bytes]) => [id, perSecond(bytes)]));
    this.#rate = perSecond(this.#totalBytes);
    this.#bytes = new Map();
    this.#totalBytes = { up: 0, down: 0 };
  }

  /** The last measured rate of a session, in bytes per second. */
  rateOf(sessionId: string): Rate {
    return this.#rates.get(sessionId) ?? NO_RATE;
  }

  /** The total rate of all sessions, in bytes per second. */
  get rate(): Rate {
    return this.#rate;
  }

  /** Measured over the last minute. */
  get heartbeatsPerMinute(): number {
    const first = this.#heartbeatTicks.at(0);
    const last = this.#heartbeatTicks.at(-1);
    if (!first || !last || last.at <= first.at) return 0;
    return ((last.count - first.count) * MINUTE_MS) / (last.at - first.at);
  }

  todayOf(accountId: string): Readonly<ByteCount> {
    return this.#byAccount.get(accountId) ?? { up: 0, down: 0 };
  }

  /** The accounts with most traffic since midnight; of those with equal traffic, the first by id. */
  top(limit: number): { id: string; up: number; down: number }[] {
    return Array.from(this.#byAccount, ([id, { up, down }]) => ({ id, up, down }))
      .sort((a, b) => b.up + b.down - a.up - a.down || (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  forget(accountId: string): void {
    this.#byAccount.delete(accountId);
  }

  /** Returns the counts since the last call. */
  takeSample(): Counters {
    const taken = this.#sinceSample;
    this.#sinceSample = noCounters();
    return taken;
  }

  #add(counter: keyof Counters, by: number): void {
    this.today[counter] += by;
    this.totals[counter] += by;
    this.#sinceSample[counter] += by;
  }
}
