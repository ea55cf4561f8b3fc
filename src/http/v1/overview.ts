// /api/v1/overview and events: current activity and its history, and a stream of server-sent events that reports changes as they happen.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { addToCount } from '../../core/maps.js';
import type { OverviewNow } from '../../core/stats/overview.js';
import { iso } from '../../core/time/clock.js';
import { failure } from '../api/problem.js';
import { routesOf } from '../api/route.js';
import { Bytes, BytesPerSecond, Count, component, Guid, Range, Time } from '../api/schemas.js';
import type { Caller } from '../caller.js';
import type { EventStreams, Services, Watched } from '../services.js';

const Overview = component('Overview', {
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
});

/** A missing measurement (the daemon was down) is null, so that a chart shows the gap. */
const Samples = z.array(z.number().nullable());

const OverviewHistory = component('OverviewHistory', {
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
});

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

function presentOverview(now: OverviewNow): Record<string, unknown> {
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

/** The data of `changed`, sent when an object of a list changed. The stream also sends `overview` every two seconds. */
const ChangedEvent = component('ChangedEvent', {
  topic: z.enum(['accounts', 'sessions', 'settings', 'runs', 'agents', 'tokens', 'audit', 'notices']),
  id: z.string().nullable(),
});

const EVERYTHING: Watched = { hasOverview: true, filter: (changed) => changed };

interface EventStreamOptions extends Pick<Services, 'overview' | 'changes'> {
  /**
   * Most streams at once of all operators together, and as many more of the administrator, whom no operator locks out. Each stream
   * occupies a connection.
   */
  readonly maxEventStreams: number;
  /** Whether the caller who opened a stream may still read it. */
  readonly mayStillWatch: (caller: Caller) => boolean;
}

export const eventRoutes = [
  route('GET /api/v1/events', 'streamEvents', 'sessions:read', {
    summary:
      'Server-sent events. `event: overview` carries an Overview, `event: changed` a ChangedEvent; a comment line keeps the stream alive.',
    success: [
      200,
      'A stream that does not end; this is the data of its events.',
      { schema: z.union([Overview, ChangedEvent]), contentType: 'text/event-stream' },
    ],
    async handle({ caller }, { events }) {
      const stream = events.open(caller);
      if (!stream) return failure('too-many-requests', 'too-many-streams');
      const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
      return { body: stream, headers };
    },
  }),
];

/** Most streams of one operator, so that none takes those of all. */
export const MAX_STREAMS_PER_OPERATOR = 10;
const OVERVIEW_EVERY_MS = 2_000;
/** Interval of comments (lines that begin with a colon). They keep the stream alive, because proxies close idle connections. */
const COMMENT_EVERY_MS = 15_000;
/** A client that is further behind is disconnected. It reloads everything when it reconnects. */
const MAX_UNREAD_BYTES = 1024 * 1024;

export function createEventStreams(options: EventStreamOptions): EventStreams {
  /** The number of open streams by the id of the operator; null: the administrator. */
  const streams = new Map<string | null, number>();
  const ends = new Set<() => void>();

  const countOf = (id: string | null): number => streams.get(id) ?? 0;

  function isFull(id: string | null): boolean {
    if (id === null) return countOf(id) >= options.maxEventStreams;
    if (countOf(id) >= MAX_STREAMS_PER_OPERATOR) return true;
    const all = [...streams.values()].reduce((sum, count) => sum + count, 0);
    return all - countOf(null) >= options.maxEventStreams;
  }

  function open(caller: Caller, { hasOverview, filter }: Watched): Readable {
    const principal = caller.operator?.id ?? null;
    addToCount(streams, principal, 1);
    const stream = new Readable({ read() {} });
    const send = (text: string): void => {
      if (!ends.has(end)) return;
      if (stream.readableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.push(text);
    };
    const event = (name: string, data: unknown): void =>
      send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    const tick = async (): Promise<void> => {
      // The page reconnects, and the daemon then answers 401.
      if (!options.mayStillWatch(caller)) return end();
      if (!hasOverview) return;
      const shown = await options.overview().catch(() => null);
      if (shown) event('overview', presentOverview(shown));
      else send(': the database does not answer\n\n');
    };
    const overviews = setInterval(() => void tick(), OVERVIEW_EVERY_MS);
    const comments = setInterval(() => send(':\n\n'), COMMENT_EVERY_MS);
    const stopListening = options.changes.subscribe((changed) => {
      const sent = filter(changed);
      if (sent) event('changed', sent);
    });
    const stopSending = (): void => {
      ends.delete(end);
      clearInterval(overviews);
      clearInterval(comments);
      stopListening();
    };
    const end = (): void => {
      stopSending();
      stream.push(null);
    };
    ends.add(end);
    stream.once('close', () => {
      stopSending();
      addToCount(streams, principal, -1);
    });
    send('retry: 2000\n\n');
    void tick();
    return stream;
  }

  return {
    open: (caller, watched = EVERYTHING) =>
      isFull(caller.operator?.id ?? null) ? null : open(caller, watched),
    close() {
      for (const end of ends) end();
    },
  };
}
