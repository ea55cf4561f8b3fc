// The history for the overview's charts: one sample per minute, stored as minutes, hours, days and months.
import type { Calendar } from '../accounts/usage/calendar.js';
import type { Counters, LiveActivity } from '../accounts/usage/live-activity.js';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, RANGES, type Range, stepsOf } from '../time/clock.js';
import { joined } from '../time/turns.js';

/** Sums over the measured minutes. Sessions and players are sums too; `measured` gives their mean. */
export interface Sample extends Counters {
  readonly sessions: number;
  readonly playersOnline: number;
}

export type SampleStep = 'minute' | 'hour' | 'day' | 'month';

/** A stored step. `measured`: its number of sampled minutes. */
export interface StoredSample extends Sample {
  readonly at: number;
  readonly measured: number;
}

export interface SampleStore {
  /**
   * Adds the sample of one minute to the steps that contain it. `measured`: 1 for the one node that measures values of the whole
   * service (sessions, players, runs), 0 for the others, which add only their own counts.
   * @param at the start of each step, in ms since the epoch
   */
  add(at: Readonly<Record<SampleStep, number>>, sample: Sample, measured: 0 | 1): Promise<void>;
  /** Oldest first. */
  list(step: SampleStep, from: number): Promise<StoredSample[]>;
  trim(step: SampleStep, before: number): Promise<void>;
  /** The numbers of queued and running runs, and of those that ended since `since` and, if given, before `before`. */
  runs(
    since: number,
    before?: number,
  ): Promise<Record<'queued' | 'running' | 'succeeded' | 'failed', number>>;
  /** The traffic of every account since a day (see accounts/usage/calendar.ts), in bytes. */
  trafficSince(day: number): Promise<{ id: string; up: number; down: number }[]>;
}

/** How long each step is kept. Months are never removed. */
const KEPT_MS: Readonly<Partial<Record<SampleStep, number>>> = {
  minute: 49 * HOUR_MS,
  hour: 62 * DAY_MS,
  day: 1_100 * DAY_MS,
};

/** Most minutes that wait for the database, one day. Beyond that the oldest is dropped. */
const MAX_WAITING = 1_440;

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS;

/** The starts of the steps that contain `at`, in ms since the epoch. */
export function stepStarts(at: number, calendar: Calendar): Record<SampleStep, number> {
  return {
    minute: minuteOf(at),
    hour: Math.floor(at / HOUR_MS) * HOUR_MS,
    day: calendar.startOfDay(calendar.dayOf(at)),
    month: calendar.periodStart('month', at) ?? at,
  };
}

export type History = ReturnType<typeof createHistory>;

export function createHistory(options: {
  store: SampleStore;
  /** Whether this node measures the values of the whole service. */
  isFirst: () => boolean;
  activity: Pick<LiveActivity, 'takeSample'>;
  calendar: Calendar;
  now: Clock;
}) {
  const { store, activity, isFirst, calendar, now } = options;
  let minute = minuteOf(now());
  let observed = { times: 0, sessions: 0, playersOnline: 0 };
  const waiting: { at: number; before: number; sample: Omit<Sample, 'runs'> }[] = [];

  /** Ends the current minute: its sample waits to be written. */
  function closeMinute(before: number): void {
    const { times, sessions, playersOnline } = observed;
    observed = { times: 0, sessions: 0, playersOnline: 0 };
    const sample = {
      ...activity.takeSample(),
      sessions: times === 0 ? 0 : sessions / times,
      playersOnline: times === 0 ? 0 : playersOnline / times,
    };
    waiting.push({ at: minute, before, sample });
    if (waiting.length > MAX_WAITING) waiting.shift();
    minute = before;
  }

  const writeAll = joined(async () => {
    for (let first = waiting[0]; first; first = waiting[0]) {
      const { at, before, sample } = first;
      if (isFirst()) {
        const runs = await store.runs(at, before);
        await store.add(stepStarts(at, calendar), { ...sample, runs: runs.succeeded + runs.failed }, 1);
      } else
        await store.add(stepStarts(at, calendar), { ...sample, sessions: 0, playersOnline: 0, runs: 0 }, 0);
      // `closeMinute` may have dropped it meanwhile.
      if (waiting[0] === first) waiting.shift();
      for (const [step, keptMs] of Object.entries(KEPT_MS)) await store.trim(step as SampleStep, at - keptMs);
    }
  });

  return {
    /** Adds the current state to the mean of the minute. Call it every second or two. */
    observe(sessions: number, playersOnline: number): void {
      observed.times += 1;
      observed.sessions += sessions;
      observed.playersOnline += playersOnline;
    },

    /**
     * Writes the samples of past minutes. Rejects when the database cannot be written, and keeps the newest MAX_WAITING of them then.
     */
    sampleIfDue(): Promise<void> {
      const current = minuteOf(now());
      if (current !== minute) closeMinute(current);
      if (waiting.length === 0) return Promise.resolve();
      return writeAll();
    },

    /** One list per column, as long as `at`; null where nothing was measured. */
    async columns(range: Range) {
      const at = stepsOf(range, now());
      const { stepMs } = RANGES[range];
      const rows = await store.list(range === 'month' ? 'hour' : 'minute', at[0] ?? 0);
      const steps = new Map<number, StoredSample>();
      for (const row of rows) {
        const start = Math.floor(row.at / stepMs) * stepMs;
        const before = steps.get(start);
        steps.set(start, before ? addSamples(before, row) : row);
      }
      const column = (of: (sample: StoredSample) => number) =>
        at.map((start) => {
          const sample = steps.get(start);
          return sample ? of(sample) : null;
        });
      const perSecond = (sample: StoredSample, bytes: number) =>
        (bytes * 1000) / (sample.measured * MINUTE_MS);
      return {
        at,
        stepMs,
        values: {
          sessions: column((sample) => sample.sessions / sample.measured),
          playersOnline: column((sample) => sample.playersOnline / sample.measured),
          bytesUp: column((sample) => perSecond(sample, sample.bytesUp)),
          bytesDown: column((sample) => perSecond(sample, sample.bytesDown)),
          logins: column((sample) => sample.logins),
          failures: column((sample) => sample.failures),
          heartbeats: column((sample) => sample.heartbeats),
          runs: column((sample) => sample.runs),
        },
      };
    },
  };
}

function addSamples(a: StoredSample, b: StoredSample): StoredSample {
  const sums = Object.entries(a).map(([name, value]) => [name, value + b[name as keyof StoredSample]]);
  return { ...Object.fromEntries(sums), at: a.at };
}
