// The current numbers for the overview, computed at most once per second.
import { isExpired } from '../accounts/account.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Calendar } from '../accounts/usage/calendar.js';
import type { LiveActivity } from '../accounts/usage/live-activity.js';
import { QueryTooSlowError } from '../errors.js';
import type { HeartbeatSums } from '../heartbeats/heartbeat-sums.js';
import { addToSet } from '../maps.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import { type Clock, DAY_MS } from '../time/clock.js';
import type { SampleStore } from './history.js';

const WEEK_MS = 7 * DAY_MS;
const TOP = 10;
const FRESH_MS = 1_000;
/** How long the games of the day are cached. */
const GAMES_FRESH_MS = 30_000;

export type OverviewNow = Awaited<ReturnType<ReturnType<typeof createOverview>>>;

/** Returns a function that returns the current overview. It rejects when the database does not answer. */
export function createOverview(deps: {
  readonly directory: AccountDirectory;
  readonly sessions: SessionRegistry;
  readonly activity: LiveActivity;
  readonly samples: Pick<SampleStore, 'runs'>;
  readonly heartbeatSums: Pick<HeartbeatSums, 'games'>;
  readonly calendar: Calendar;
  readonly now: Clock;
}) {
  const { directory, sessions, activity, now } = deps;
  const midnight = (at: number): number => deps.calendar.periodStart('day', at) ?? at;
  let cached: { at: number; overview: ReturnType<typeof compute> } | null = null;
  let games: { at: number; found: Map<string, number> } = { at: Number.NEGATIVE_INFINITY, found: new Map() };

  async function gamesOfToday(at: number): Promise<Map<string, number>> {
    if (at - games.at < GAMES_FRESH_MS) return games.found;
    try {
      const found = await deps.heartbeatSums.games(midnight(at), 100);
      games = { at, found: new Map(found.map(({ key, count }) => [key ?? '', count])) };
    } catch (error) {
      // Long searches occupy the readers: return the former games, so that the other numbers need not wait.
      if (!(error instanceof QueryTooSlowError)) throw error;
    }
    return games.found;
  }

  function countAccounts(at: number) {
    let [enabled, expired, expiringIn7Days, neverUsed] = [0, 0, 0, 0];
    for (const account of directory.all()) {
      if (account.isEnabled) enabled += 1;
      if (isExpired(account, at)) expired += 1;
      else if (account.expiresAt !== null && account.expiresAt <= at + WEEK_MS) expiringIn7Days += 1;
      if (account.lastLoginAt === null) neverUsed += 1;
    }
    const total = directory.size;
    const online = sessions.totalAccounts;
    return { total, enabled, disabled: total - enabled, online, expired, expiringIn7Days, neverUsed };
  }

  function accountsByGame(): Map<string, Set<string>> {
    const byGame = new Map<string, Set<string>>();
    for (const { gameId, accountId } of sessions.all())
      if (gameId !== null) addToSet(byGame, gameId, accountId);
    for (const { gameIds, accountId } of sessions.elsewhere.all())
      for (const gameId of gameIds) addToSet(byGame, gameId, accountId);
    return byGame;
  }

  async function compute(at: number) {
    sessions.count();
    const [runs, heartbeatsOf] = await Promise.all([deps.samples.runs(midnight(at)), gamesOfToday(at)]);
    const online = accountsByGame();
    const accounts = countAccounts(at);
    const here = activity.rate;
    const { elsewhere } = sessions;
    return {
      at,
      sessions: sessions.total,
      playersOnline: accounts.online,
      bytesPerSecondUp: here.up + elsewhere.rate.up,
      bytesPerSecondDown: here.down + elsewhere.rate.down,
      heartbeatsPerMinute: activity.heartbeatsPerMinute,
      today: { ...activity.today },
      accounts,
      runs,
      topAccounts: activity.top(TOP).map(({ id, up, down }) => ({
        id,
        username: directory.byId(id)?.username ?? id,
        bytesUp: up,
        bytesDown: down,
        sessions: sessions.countOf(id),
      })),
      topGames: [...new Set([...online.keys(), ...heartbeatsOf.keys()])]
        .map((gameId) => ({
          gameId,
          accountsOnline: online.get(gameId)?.size ?? 0,
          heartbeats: heartbeatsOf.get(gameId) ?? 0,
        }))
        .sort(
          (a, b) =>
            b.accountsOnline - a.accountsOnline ||
            b.heartbeats - a.heartbeats ||
            (a.gameId < b.gameId ? -1 : 1),
        )
        .slice(0, TOP),
    };
  }

  return () => {
    const at = now();
    if (!cached || Math.abs(at - cached.at) >= FRESH_MS) {
      const overview = compute(at);
      cached = { at, overview };
      // After a failure, the next call computes again.
      overview.catch(() => {
        if (cached?.overview === overview) cached = null;
      });
    }
    return cached.overview;
  };
}
