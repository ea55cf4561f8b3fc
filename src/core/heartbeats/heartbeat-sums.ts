// Sums of heartbeat entries over time, by account and game, so that charts never read the entries themselves.
import type { Clock } from '../clock.js';
import { RANGES, type Range, stepsOf } from '../ranges.js';
import type { Heartbeat } from './heartbeat.js';

export interface HeartbeatSumRow {
  readonly accountId: string;
  /** null: none. */
  readonly gameId: string | null;
  readonly count: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

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
  /** Adds rows to the steps that begin at `at` (in milliseconds since the epoch), by their length in seconds. */
  add(steps: ReadonlyMap<number, number>, rows: readonly HeartbeatSumRow[]): Promise<void>;
  /** The largest first. */
  largest(stepSeconds: number, from: number, by: By, limit: number): Promise<KeySum[]>;
  /** Entries by step for each of `keys`. */
  series(
    stepSeconds: number,
    from: number,
    by: By,
    keys: readonly (string | null)[],
  ): Promise<{ at: number; key: string | null; count: number }[]>;
  /** All entries by step. */
  totals(stepSeconds: number, from: number): Promise<{ at: number; count: number }[]>;
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
  series(range: Range, by: By, limit: number): Promise<Series>;
  largest(range: Range, by: By, limit: number): Promise<{ from: number; to: number; items: KeySum[] }>;
  /** Games with most entries since a moment. */
  games(from: number, limit: number): Promise<KeySum[]>;
}

/** One step more than the range shows is kept. */
const STEPS = Object.values(RANGES).map(({ stepMs, steps }) => ({ stepMs, keptMs: stepMs * (steps + 1) }));

export function createHeartbeatSums({ store, now }: { store: HeartbeatSumStore; now: Clock }): HeartbeatSums {
  type Row = { -readonly [K in keyof HeartbeatSumRow]: HeartbeatSumRow[K] };
  let rows = new Map<string, Row>();
  let minute = startOf(RANGES.hour.stepMs);
  let closed: { at: number; rows: Map<string, Row> }[] = [];
  let writing: Promise<void> | null = null;

  function startOf(stepMs: number, at = now()): number {
    return Math.floor(at / stepMs) * stepMs;
  }

  /** What was counted up to now becomes a batch of its minute. */
  function close(): void {
    if (rows.size > 0) closed.push({ at: minute, rows });
    rows = new Map();
    minute = startOf(RANGES.hour.stepMs);
  }

  async function write(): Promise<void> {
    close();
    while (closed.length > 0) {
      const [batch] = closed;
      if (!batch) return;
      const steps = new Map(STEPS.map(({ stepMs }) => [stepMs / 1000, startOf(stepMs, batch.at)]));
      await store.add(steps, [...batch.rows.values()]);
      closed = closed.slice(1);
    }
    for (const { stepMs, keptMs } of STEPS) await store.trim(stepMs / 1000, now() - keptMs);
  }

  return {
    record({ at, accountId, gameId, bytesUp, bytesDown }) {
      if (at - minute >= RANGES.hour.stepMs) close();
      const key = `${accountId} ${gameId ?? ''}`;
      const row = rows.get(key);
      if (!row) {
        rows.set(key, { accountId, gameId, count: 1, bytesUp, bytesDown });
        return;
      }
      row.count += 1;
      row.bytesUp += bytesUp;
      row.bytesDown += bytesDown;
    },

    flush() {
      writing ??= write().finally(() => {
        writing = null;
      });
      return writing;
    },

    async series(range, by, limit) {
      const at = stepsOf(range, now());
      const { stepMs } = RANGES[range];
      const from = at[0] ?? 0;
      const stepSeconds = stepMs / 1000;
      const top = await store.largest(stepSeconds, from, by, limit);
      const keys = top.map(({ key }) => key);
      const [points, totals] = await Promise.all([
        store.series(stepSeconds, from, by, keys),
        store.totals(stepSeconds, from),
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

    async largest(range, by, limit) {
      const [from = 0] = stepsOf(range, now());
      const items = await store.largest(RANGES[range].stepMs / 1000, from, by, limit);
      return { from, to: now(), items };
    },

    async games(from, limit) {
      const found = await store.largest(RANGES.day.stepMs / 1000, from, 'game', limit + 1);
      return found.filter(({ key }) => key !== null).slice(0, limit);
    },
  };
}
