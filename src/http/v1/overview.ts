// /api/v1/overview: current activity and its history.
import { z } from 'zod';
import { iso } from '../../core/clock.js';
import type { OverviewNow } from '../../core/stats/overview.js';
import { routesOf } from '../api/route.js';
import { Bytes, BytesPerSecond, Count, Guid, Range, Time } from '../api/schemas.js';

export const Overview = z
  .object({
    at: Time,
    sessions: Count,
    /** Accounts with at least one live session. */
    playersOnline: Count,
    bytesPerSecondUp: BytesPerSecond,
    bytesPerSecondDown: BytesPerSecond,
    heartbeatsPerMinute: z.number().min(0),
    /** Since midnight in the time zone `timeZone`. */
    today: z.object({ logins: Count, failures: Count, bytesUp: Bytes, bytesDown: Bytes, heartbeats: Count }),
    accounts: z.object({
      total: Count,
      enabled: Count,
      disabled: Count,
      online: Count,
      expired: Count,
      expiringIn7Days: Count,
      neverUsed: Count,
    }),
    runs: z.object({ queued: Count, running: Count, succeededToday: Count, failedToday: Count }),
    /** The ten accounts with the most bytes since midnight. */
    topAccounts: z.array(
      z.object({ id: Guid, username: z.string(), bytesUp: Bytes, bytesDown: Bytes, sessions: Count }),
    ),
    /** The first ten games, sorted by accounts that play them now, then by entries since midnight. */
    topGames: z.array(z.object({ gameId: z.string(), accountsOnline: Count, heartbeats: Count })),
  })
  .meta({ id: 'Overview' });

/** A missing measurement (the daemon was down) is null, so that a chart shows the gap. */
const Samples = z.array(z.number().nullable());

const OverviewHistory = z
  .object({
    range: Range,
    stepSeconds: z.int().min(1),
    /** Start of each step. All lists below have the same length. */
    at: z.array(Time),
    sessions: Samples,
    playersOnline: Samples,
    bytesPerSecondUp: Samples,
    bytesPerSecondDown: Samples,
    logins: Samples,
    failures: Samples,
    heartbeats: Samples,
    runs: Samples,
  })
  .meta({ id: 'OverviewHistory' });

const { route } = routesOf('Overview');

export const overviewRoutes = [
  route('GET /api/v1/overview', 'getOverview', 'sessions:read', {
    summary: 'Current activity.',
    ofAllAccounts: true,
    success: [200, 'Now.', Overview],
    handle: async (_input, { overview }) => ({ body: presentOverview(await overview()) }),
  }),
  route('GET /api/v1/overview/history', 'getOverviewHistory', 'sessions:read', {
    summary: 'Activity over an hour, a day or a month; longer ranges have longer steps.',
    ofAllAccounts: true,
    request: { query: z.object({ range: Range.default('hour') }) },
    success: [200, 'Columns of equal length.', OverviewHistory],
    async handle({ query: { range } }, { history }) {
      const { at, stepMs, values } = await history.columns(range);
      const { bytesUp, bytesDown, ...counts } = values;
      const rates = { bytesPerSecondUp: bytesUp, bytesPerSecondDown: bytesDown };
      return { body: { range, stepSeconds: stepMs / 1000, at: at.map(iso), ...counts, ...rates } };
    },
  }),
];

export function presentOverview(now: OverviewNow): Record<string, unknown> {
  const { runs, today, at, ...rest } = now;
  const { queued, running, succeeded, failed } = runs;
  const { logins, failures, bytesUp, bytesDown, heartbeats } = today;
  return {
    at: iso(at),
    ...rest,
    today: { logins, failures, bytesUp, bytesDown, heartbeats },
    runs: { queued, running, succeededToday: succeeded, failedToday: failed },
  };
}
