// Sums of heartbeat entries over time, by account and game, so that charts never read the entries themselves.
import type { Clock } from '../clock.js';
import { RANGES, type Range, stepsOf } from '../ranges.js';
import type { Heartbeat } from './heartbeat.js';
import { type HeartbeatSumRow, OTHER_GAMES, type SummedRows, sumUp } from './summed-rows.js';

export type By = 'game' | 'account';

/** A sum over a range by one key: a GameID (null: none) or an account id. */
export interface KeySum {
  readonly key: string | null;
  readonly count: number;
  readonly accounts: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Start of the newest step that has an entry. */
  readonly lastAt: number;
}

export interface HeartbeatSumStore {
  /**
   * Adds rows to the steps that begin at `at` (in milliseconds since the epoch), by their length in seconds. A step keeps
   * at most `maxGames` GameIDs of an account; the rest are added to OTHER_GAMES.
   */
  add(steps: ReadonlyMap<number, number>, rows: readonly HeartbeatSumRow[], maxGames: number): Promise<void>;
  /** The largest first; with `owner` only of accounts of this seller, as below. */
  largest(stepSeconds: number, from: number, by: By, limit: number, owner?: string): Promise<KeySum[]>;
  /** Entries by step for each of `keys`. */
  series(
    stepSeconds: number,
    from: number,
    by: By,
    keys: readonly (string | null)[],
    owner?: string,
  ): Promise<{ at: number; key: string | null; count: number }[]>;
  /** All entries by step. */
  totals(stepSeconds: number, from: number, owner?: string): Promise<{ at: number; count: number }[]>;
  trim(stepSeconds: number, before: number): Promise<void>;
}

export interface Series {
  readonly at: readonly number[];
  readonly stepMs: number;
  readonly series: readonly {
    readonly key: string | null;
    readonly isOthers: boolean;
    readonly total: number;
    readonly counts: readonly number[];
  }[];
}

export interface HeartbeatSums {
  record(entry: Heartbeat): void;
  /** Writes what was counted. Rejects with the database's error; nothing is lost then. */
  flush(): Promise<void>;
  /** With `owner` only of accounts of this seller. */
  series(range: Range, by: By, limit: number, owner?: string): Promise<Series>;
  largest(
    range: Range,
    by: By,
    limit: number,
    owner?: string,
  ): Promise<{ from: number; to: number; items: KeySum[] }>;
  /** Games with most entries since a moment. */
  games(from: number, limit: number): Promise<KeySum[]>;
}

/** Minutes that wait for the database at most; beyond it the two oldest become one. */
const MAX_WAITING = 60;

/** One step more than the range shows is kept. */
const STEPS = Object.values(RANGES).map(({ stepMs, steps }) => ({ stepMs, keptMs: stepMs * (steps + 1) }));

export function createHeartbeatSums({
  store,
  maxGames,
  now,
}: {
  store: HeartbeatSumStore;
  /** GameIDs of an account that a step counts apart. */
  maxGames: number;
  now: Clock;
}): HeartbeatSums {
  let rows = sumUp([], maxGames);
  let minute = startOf(RANGES.hour.stepMs);
  let closed: { at: number; rows: SummedRows }[] = [];
  let writing: Promise<void> | null = null;

  function startOf(stepMs: number, at = now()): number {
    return Math.floor(at / stepMs) * stepMs;
  }

  /** What was counted up to now becomes a batch of its minute. */
  function close(): void {
    if (rows.size > 0) wait({ at: minute, rows });
    rows = sumUp([], maxGames);
    minute = startOf(RANGES.hour.stepMs);
  }

  /** While the database fails, what waits grows with the minutes at most, and with them for an hour at most. */
  function wait(batch: { at: number; rows: SummedRows }): void {
    const last = closed.at(-1);
    // The first one may be under way to the database.
    if (last && closed.length > 1 && last.at === batch.at) {
      for (const row of batch.rows.all()) last.rows.add(row);
      return;
    }
    closed.push(batch);
    if (closed.length <= MAX_WAITING) return;
    const [first, second, third, ...rest] = closed;
    if (!first || !second || !third) return;
    for (const row of third.rows.all()) second.rows.add(row);
    closed = [first, second, ...rest];
  }

  async function write(): Promise<void> {
    close();
    while (closed.length > 0) {
      const [batch] = closed;
      if (!batch) return;
      const steps = new Map(STEPS.map(({ stepMs }) => [stepMs / 1000, startOf(stepMs, batch.at)]));
      await store.add(steps, [...batch.rows.all()], maxGames);
      closed = closed.slice(1);
    }
    for (const { stepMs, keptMs } of STEPS) await store.trim(stepMs / 1000, now() - keptMs);
  }

  /** The largest without OTHER_GAMES, which is no game: charts have it among all others. */
  async function named(
    stepSeconds: number,
    from: number,
    by: By,
    limit: number,
    owner?: string,
  ): Promise<KeySum[]> {
    const found = await store.largest(stepSeconds, from, by, limit + 1, owner);
    return found.filter(({ key }) => key !== OTHER_GAMES).slice(0, limit);
  }

  return {
    record({ at, accountId, gameId, bytesUp, bytesDown }) {
      if (at - minute >= RANGES.hour.stepMs) close();
      rows.add({ accountId, gameId, count: 1, bytesUp, bytesDown });
    },

    flush() {
      writing ??= write().finally(() => {
        writing = null;
      });
      return writing;
    },

    async series(range, by, limit, owner) {
      const at = stepsOf(range, now());
      const { stepMs } = RANGES[range];
      const from = at[0] ?? 0;
      const stepSeconds = stepMs / 1000;
      const top = await named(stepSeconds, from, by, limit, owner);
      const keys = top.map(({ key }) => key);
      const [points, totals] = await Promise.all([
        store.series(stepSeconds, from, by, keys, owner),
        store.totals(stepSeconds, from, owner),
      ]);
      const indexOf = new Map(at.map((start, i) => [start, i]));
      const counts = new Map(keys.map((key) => [key, new Array<number>(at.length).fill(0)]));
      const others = new Array<number>(at.length).fill(0);
      for (const point of totals) {
        const i = indexOf.get(point.at);
        if (i !== undefined) others[i] = (others[i] ?? 0) + point.count;
      }
      for (const point of points) {
        const i = indexOf.get(point.at);
        const list = counts.get(point.key);
        if (i === undefined || !list) continue;
        list[i] = (list[i] ?? 0) + point.count;
        others[i] = Math.max(0, (others[i] ?? 0) - point.count);
      }
      const sum = (list: readonly number[]) => list.reduce((total, each) => total + each, 0);
      const series = keys.map((key) => {
        const list = counts.get(key) ?? [];
        return { key, isOthers: false, total: sum(list), counts: list };
      });
      const rest = sum(others);
      if (rest > 0) series.push({ key: null, isOthers: true, total: rest, counts: others });
      return { at, stepMs, series };
    },

    async largest(range, by, limit, owner) {
      const [from = 0] = stepsOf(range, now());
      const items = await named(RANGES[range].stepMs / 1000, from, by, limit, owner);
      return { from, to: now(), items };
    },

    async games(from, limit) {
      const found = await named(RANGES.day.stepMs / 1000, from, 'game', limit + 1);
      return found.filter(({ key }) => key !== null).slice(0, limit);
    },
  };
}
