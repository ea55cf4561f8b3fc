// The overview page: what is happening now, what happened over time, and the stream of events.
import { z } from 'zod';
import { Bytes, BytesPerSecond, Count, Guid, Range, route, Time } from './common.js';

export const Overview = z
  .object({
    at: Time,
    sessions: Count,
    /** Accounts with at least one live session. */
    playersOnline: Count,
    bytesPerSecondUp: BytesPerSecond,
    bytesPerSecondDown: BytesPerSecond,
    heartbeatsPerMinute: z.number().min(0),
    /** Since midnight UTC. */
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
    /** By bytes since midnight UTC, the ten largest. */
    topAccounts: z.array(
      z.object({ id: Guid, username: z.string(), bytesUp: Bytes, bytesDown: Bytes, sessions: Count }),
    ),
    /** By accounts that play them now, then by entries since midnight UTC; the ten largest. */
    topGames: z.array(z.object({ gameId: z.string(), accountsOnline: Count, heartbeats: Count })),
  })
  .meta({ id: 'Overview' });

/** A measurement that was not taken (the daemon was down) is null, so that a chart shows the gap. */
const Samples = z.array(z.number().nullable());

export const OverviewHistory = z
  .object({
    range: Range,
    stepSeconds: z.int().min(1),
    /** Start of each step. All the lists below are as long as this one. */
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

/** What the stream tells: `overview` every two seconds, `changed` when something a list shows was changed. */
export const ChangedEvent = z
  .object({
    topic: z.enum(['accounts', 'sessions', 'settings', 'runs', 'agents', 'tokens', 'audit']),
    id: z.string().nullable(),
  })
  .meta({ id: 'ChangedEvent' });

const tag = 'Overview';
export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/overview',
    operationId: 'getOverview',
    summary: 'What is happening now.',
    tag,
    access: 'sessions:read',
    request: {},
    responses: { 200: { description: 'Now.', schema: Overview } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/overview/history',
    operationId: 'getOverviewHistory',
    summary: 'The same over an hour, a day or a month, at falling resolution.',
    tag,
    access: 'sessions:read',
    request: { query: z.object({ range: Range.default('hour') }) },
    responses: { 200: { description: 'Columns of equal length.', schema: OverviewHistory } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/events',
    operationId: 'streamEvents',
    summary:
      'Server-sent events. `event: overview` carries an Overview, `event: changed` a ChangedEvent; a comment line keeps the stream alive.',
    tag,
    access: 'sessions:read',
    request: {},
    responses: {
      200: {
        description: 'A stream that does not end; this is the data of its events.',
        schema: z.union([Overview, ChangedEvent]),
        contentType: 'text/event-stream',
      },
    },
  }),
];
