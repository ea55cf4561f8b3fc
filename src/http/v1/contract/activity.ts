// What happens on an account and on the line: live sessions, logins and failures, traffic, heartbeats.
import { z } from 'zod';
import {
  Bytes,
  BytesPerSecond,
  Count,
  Day,
  Guid,
  IdParams,
  openPageOf,
  PageQuery,
  pageOf,
  Range,
  route,
  Time,
  TimeIn,
} from './common.js';

const Protocol = z.enum(['tcp', 'udp']);

export const LiveSession = z
  .object({
    id: Guid,
    accountId: Guid,
    username: z.string(),
    command: z.enum(['connect', 'bind', 'udp-associate']),
    protocol: Protocol,
    /** What the client speaks. */
    clientProtocol: z.enum(['socks5', 'http']),
    client: z.object({ address: z.string(), port: z.int() }),
    /** `host` is what the client asked for, `address` what was dialled. */
    destination: z.object({ host: z.string(), address: z.string(), port: z.int() }),
    gameId: z.string().nullable(),
    openedAt: Time,
    bytesUp: Bytes,
    bytesDown: Bytes,
    bytesPerSecondUp: BytesPerSecond,
    bytesPerSecondDown: BytesPerSecond,
  })
  .meta({ id: 'LiveSession' });

const sessionSorts = [
  'openedAt',
  'username',
  'client',
  'destination',
  'gameId',
  'bytes',
  'bytesPerSecond',
] as const;
const SessionQuery = z.object({
  ...PageQuery.shape,
  /** In user name, client address, destination and GameID. */
  search: z.string().max(255).optional(),
  accountId: Guid.optional(),
  game: z.string().max(255).optional(),
  protocol: Protocol.optional(),
  sort: z.enum([...sessionSorts, ...sessionSorts.map((key) => `-${key}` as const)]).default('-openedAt'),
});

export const LoginOutcome = z
  .enum([
    'success',
    'unknown-user',
    'wrong-password',
    'disabled',
    'expired',
    'blocked-address',
    'too-many-sessions',
    'too-many-addresses',
    'over-quota',
  ])
  .meta({ id: 'LoginOutcome', description: 'Players are told only "failed"; the operator is told why.' });

export const Login = z
  .object({
    at: Time,
    /** null: no account has the name. */
    accountId: Guid.nullable(),
    /** Empty: many names that a blocked address tried. */
    username: z.string(),
    client: z.string(),
    outcome: LoginOutcome,
    /** The same outcome of the same name and address, up to a minute apart, is one entry; of a blocked address, up to an hour. */
    times: z.int().min(1),
  })
  .meta({ id: 'Login' });

export const TrafficDay = z
  .object({ day: Day, bytesUp: Bytes, bytesDown: Bytes, sessions: Count })
  .meta({ id: 'TrafficDay' });

export const HeartbeatEntry = z
  .object({
    at: Time,
    accountId: Guid,
    username: z.string(),
    sessionId: Guid,
    client: z.string(),
    destination: z.string(),
    protocol: Protocol,
    bytesUp: Bytes,
    bytesDown: Bytes,
    kind: z.enum(['open', 'beat', 'game', 'close']),
    gameId: z.string().nullable(),
  })
  .meta({ id: 'HeartbeatEntry' });

/** A stretch of time in which an account was seen in one game (null: in none that a rule knows). */
export const TimelineStretch = z
  .object({ from: Time, to: Time, gameId: z.string().nullable(), heartbeats: Count })
  .meta({ id: 'TimelineStretch' });

export const HeartbeatSeries = z
  .object({
    range: Range,
    stepSeconds: z.int().min(1),
    at: z.array(Time),
    /** The largest ones, at most `limit`, then one with key null for all others together when there are any. */
    series: z.array(
      z.object({
        /** GameID or account id; null: all others. */
        key: z.string().nullable(),
        /** GameID or user name; null: all others, or entries without a game. */
        label: z.string().nullable(),
        total: Count,
        counts: z.array(z.number().nullable()),
      }),
    ),
  })
  .meta({ id: 'HeartbeatSeries' });

export const HeartbeatSum = z
  .object({
    /** GameID (null: none) or account id. */
    key: z.string().nullable(),
    label: z.string().nullable(),
    heartbeats: Count,
    accounts: Count,
    bytesUp: Bytes,
    bytesDown: Bytes,
    lastAt: Time,
  })
  .meta({ id: 'HeartbeatSum' });

const By = z.enum(['game', 'account']).default('game');

const tag = 'Activity';
export const activityRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sessions',
    operationId: 'listSessions',
    summary: 'Live SOCKS sessions: who, from where, to where, which game, how much, since when.',
    tag,
    access: 'sessions:read',
    request: { query: SessionQuery },
    responses: {
      200: { description: 'A page.', schema: pageOf(LiveSession).meta({ id: 'LiveSessionPage' }) },
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/sessions/{id}',
    operationId: 'endSession',
    summary: 'Ends one live session.',
    tag,
    access: 'sessions:write',
    request: { params: IdParams },
    responses: { 204: { description: 'Ended.' } },
    problems: [404],
  }),
  route({
    method: 'POST',
    path: '/api/v1/sessions/end',
    operationId: 'endSessions',
    summary: 'Ends the sessions named, or all of an account. Those already gone are passed over.',
    tag,
    access: 'sessions:write',
    request: {
      body: z
        .object({ ids: z.array(Guid).min(1).max(1_000).optional(), accountId: Guid.optional() })
        .meta({ id: 'EndSessions', description: 'Exactly one of the two.' }),
    },
    responses: {
      200: {
        description: 'How many ended.',
        schema: z.object({ ended: Count }).meta({ id: 'EndedSessions' }),
      },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/logins',
    operationId: 'listLogins',
    summary: 'Logins and failures with addresses, newest first.',
    tag,
    access: 'accounts:read',
    request: {
      query: z.object({
        ...PageQuery.shape,
        accountId: Guid.optional(),
        /** In user name and client address. */
        search: z.string().max(255).optional(),
        failed: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).optional(),
      }),
    },
    responses: { 200: { description: 'A page.', schema: pageOf(Login).meta({ id: 'LoginPage' }) } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/accounts/{id}/traffic',
    operationId: 'getTraffic',
    summary: 'Traffic of an account per day (UTC), oldest first; days without any are there with zeros.',
    tag,
    access: 'accounts:read',
    request: {
      params: IdParams,
      query: z.object({ days: z.coerce.number().int().min(1).max(366).default(30) }),
    },
    responses: {
      200: { description: 'Days.', schema: z.object({ days: z.array(TrafficDay) }).meta({ id: 'Traffic' }) },
    },
    problems: [404],
  }),
  route({
    method: 'GET',
    path: '/api/v1/accounts/{id}/timeline',
    operationId: 'getTimeline',
    summary: 'When the account was seen, and in which game.',
    tag,
    access: 'heartbeats:read',
    request: { params: IdParams, query: z.object({ range: Range.default('day') }) },
    responses: {
      200: {
        description: 'Stretches, oldest first; between them the account was not seen.',
        schema: z
          .object({ from: Time, to: Time, stretches: z.array(TimelineStretch) })
          .meta({ id: 'Timeline' }),
      },
    },
    problems: [404],
  }),
  route({
    method: 'GET',
    path: '/api/v1/heartbeats',
    operationId: 'listHeartbeats',
    summary: 'Heartbeat entries, newest first.',
    tag,
    access: 'heartbeats:read',
    request: {
      query: z.object({
        ...PageQuery.shape,
        accountId: Guid.optional(),
        game: z.string().max(255).optional(),
        from: TimeIn.optional(),
        to: TimeIn.optional(),
      }),
    },
    responses: {
      200: {
        description: 'Entries; they are not counted, there may be millions.',
        schema: openPageOf(HeartbeatEntry).meta({ id: 'HeartbeatPage' }),
      },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/heartbeats/series',
    operationId: 'getHeartbeatSeries',
    summary: 'Heartbeat entries over time, by game or by account.',
    tag,
    access: 'heartbeats:read',
    request: {
      query: z.object({
        range: Range.default('day'),
        by: By,
        limit: z.coerce.number().int().min(1).max(20).default(6),
      }),
    },
    responses: { 200: { description: 'Columns of equal length.', schema: HeartbeatSeries } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/heartbeats/sums',
    operationId: 'getHeartbeatSums',
    summary: 'Heartbeat entries summed by game or by account, largest first.',
    tag,
    access: 'heartbeats:read',
    request: {
      query: z.object({
        range: Range.default('day'),
        by: By,
        limit: z.coerce.number().int().min(1).max(1_000).default(50),
      }),
    },
    responses: {
      200: {
        description: 'Sums.',
        schema: z
          .object({ from: Time, to: Time, items: z.array(HeartbeatSum) })
          .meta({ id: 'HeartbeatSums' }),
      },
    },
  }),
];
