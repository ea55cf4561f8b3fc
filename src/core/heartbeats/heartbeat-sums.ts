// Sums of heartbeat entries over time, by account and game, so that charts never read the entries themselves.
import type { Traffic } from '../accounts/usage/limits.js';
import { OTHER_GAMES } from '../accounts/usage/usage.js';
import { getOrAdd } from '../maps.js';
import { type Clock, RANGES, type Range, stepsOf } from '../time/clock.js';
import { joined } from '../time/turns.js';
import type { Heartbeat } from './heartbeat.js';

export type By = 'game' | 'account';

/** The sum of one key over a range. The key is a GameID (null: none) or an account id. */
export interface KeySum extends Traffic {
  readonly key: string | null;
  readonly count: number;
  readonly accounts: number;
  /** Start of the newest step that has an entry. */
  readonly lastAt: number;
}

export interface HeartbeatSumStore {
  /**
   * Adds rows to one step of each length. A step keeps at most `maxGames` GameIDs per account; the others are added to OTHER_GAMES.
   * @param steps the start of each step, in ms since the epoch, by its length in seconds
   */
  add(steps: ReadonlyMap<number, number>, rows: readonly HeartbeatSumRow[], maxGames: number): Promise<void>;
  /** The largest first. Here and below, `owner` restricts the sums to accounts of this seller. */
  largest(stepSeconds: number, from: number, by: By, limit: number, owner?: string): Promise<KeySum[]>;
  /** Number of entries by step, for each of `keys`. */
  series(
    stepSeconds: number,
    from: number,
    by: By,
    keys: readonly (string | null)[],
    owner?: string,
  ): Promise<{ at: number; key: string | null; count: number }[]>;
  totals(stepSeconds: number, from: number, owner?: string): Promise<{ at: number; count: number }[]>;
  trim(stepSeconds: number, before: number): Promise<void>;
}

export type HeartbeatSums = ReturnType<typeof createHeartbeatSums>;

/** Most minutes that wait for the database. Beyond that the two oldest are merged. */
const MAX_WAITING = 60;

/** Keeps one step more than a range shows. */
const STEPS = Object.values(RANGES).map(({ stepMs, steps }) => ({ stepMs, keptMs: stepMs * (steps + 1) }));

export function createHeartbeatSums(options: {
  store: HeartbeatSumStore;
  /** Most GameIDs of an account that a step counts separately. */
  maxGames: number;
  now: Clock;
}) {
  const { store, maxGames, now } = options;
  let rows = sumUp([], maxGames);
  let minute = startOf(RANGES.hour.stepMs);
  let closed: { at: number; rows: SummedRows }[] = [];
  /** The minute in which old steps were deleted last. */
  let trimmedIn: number | null = null;

  function startOf(stepMs: number, at = now()): number {
    return Math.floor(at / stepMs) * stepMs;
  }

  /** Ends the current minute: its rows become a batch. */
  function closeMinute(): void {
    if (rows.size > 0) enqueue({ at: minute, rows });
    rows = sumUp([], maxGames);
    minute = startOf(RANGES.hour.stepMs);
  }

  /** While the database fails, at most one batch per minute waits, for at most MAX_WAITING minutes. */
  function enqueue(batch: { at: number; rows: SummedRows }): void {
    const last = closed.at(-1);
    // The first batch may be in the process of being written.
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
    closeMinute();
    while (closed.length > 0) {
      const [batch] = closed;
      if (!batch) return;
      const steps = new Map(STEPS.map(({ stepMs }) => [stepMs / 1000, startOf(stepMs, batch.at)]));
      await store.add(steps, [...batch.rows.all()], maxGames);
      closed = closed.slice(1);
    }
    if (trimmedIn === minute) return;
    for (const { stepMs, keptMs } of STEPS) await store.trim(stepMs / 1000, now() - keptMs);
    trimmedIn = minute;
  }

  /** The largest keys except OTHER_GAMES: charts show it as part of all others. */
  async function largestNamed(
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
    record({ at, accountId, gameId, bytesUp, bytesDown }: Heartbeat): void {
      if (at - minute >= RANGES.hour.stepMs) closeMinute();
      rows.add({ accountId, gameId, count: 1, bytesUp, bytesDown });
    },

    /** Writes the counts. Rejects with the error of the database, and keeps them then. */
    flush: joined(write),

    /** Counts by step of the largest keys and of all others. `owner` restricts the sums to accounts of this seller. */
    async series(range: Range, by: By, limit: number, owner?: string) {
      const at = stepsOf(range, now());
      const { stepMs } = RANGES[range];
      const from = at[0] ?? 0;
      const stepSeconds = stepMs / 1000;
      const top = await largestNamed(stepSeconds, from, by, limit, owner);
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
      const series = keys.map((key: string | null) => {
        const list = counts.get(key) ?? [];
        return { key, isOthers: false, total: sum(list), counts: list };
      });
      const rest = sum(others);
      if (rest > 0) series.push({ key: null, isOthers: true, total: rest, counts: others });
      return { at, stepMs, series };
    },

    async largest(range: Range, by: By, limit: number, owner?: string) {
      const [from = 0] = stepsOf(range, now());
      const items = await largestNamed(RANGES[range].stepMs / 1000, from, by, limit, owner);
      return { from, to: now(), items };
    },

    /** The games with the most entries since `from` (ms since the epoch). */
    async games(from: number, limit: number): Promise<KeySum[]> {
      const found = await largestNamed(RANGES.day.stepMs / 1000, from, 'game', limit + 1);
      return found.filter(({ key }) => key !== null).slice(0, limit);
    },
  };
}

export interface HeartbeatSumRow extends Pick<Heartbeat, 'accountId' | 'gameId' | 'bytesUp' | 'bytesDown'> {
  readonly count: number;
}

/**
 * Sums by account and GameID. Clients choose GameIDs, so the ones beyond the first `maxGames` of an account share one row.
 * @param gamesOf GameIDs of an account that already have a row
 */
export function sumUp(
  rows: Iterable<HeartbeatSumRow>,
  maxGames: number,
  gamesOf: (accountId: string) => ReadonlySet<string> = () => new Set(),
): SummedRows {
  const summed = new SummedRows(maxGames, gamesOf);
  for (const row of rows) summed.add(row);
  return summed;
}

type Row = { -readonly [K in keyof HeartbeatSumRow]: HeartbeatSumRow[K] };

class SummedRows {
  readonly #accounts = new Map<string, { games: Set<string>; rows: Map<string | null, Row> }>();
  size = 0;

  constructor(
    private readonly maxGames: number,
    private readonly gamesOf: (accountId: string) => ReadonlySet<string>,
  ) {}

  add({ accountId, gameId, count, bytesUp, bytesDown }: HeartbeatSumRow): void {
    const unknown = () => ({ games: new Set(this.gamesOf(accountId)), rows: new Map() });
    const { games, rows } = getOrAdd(this.#accounts, accountId, unknown);
    const isOther =
      gameId !== null && gameId !== OTHER_GAMES && !games.has(gameId) && games.size >= this.maxGames;
    const key = isOther ? OTHER_GAMES : gameId;
    const row = rows.get(key);
    if (row) {
      row.count += count;
      row.bytesUp += bytesUp;
      row.bytesDown += bytesDown;
      return;
    }
    if (key !== null && key !== OTHER_GAMES) games.add(key);
    rows.set(key, { accountId, gameId: key, count, bytesUp, bytesDown });
    this.size += 1;
  }

  *all(): Generator<HeartbeatSumRow> {
    for (const { rows } of this.#accounts.values()) yield* rows.values();
  }
}
