// /api/v1/heartbeats: heartbeat entries, their sums over time, and the games of an account over time.
import { z } from 'zod';
import { type HeartbeatFilter, playedSpans } from '../../../core/heartbeats/heartbeat.js';
import { withoutUndefined } from '../../../core/maps.js';
import { iso, stepsOf, withMs, withTimes } from '../../../core/time/clock.js';
import type { SessionRecord } from '../../../core/trace/session-record.js';
import { routesOf } from '../../api/route.js';
import { Bytes, Count, component, Guid, openPageOf, Range, Time, TimeRange } from '../../api/schemas.js';
import type { Services } from '../../services.js';
import { NO_ACCOUNT } from '../accounts/shared.js';
import { numberCursors } from '../cursors.js';
import { ClientFields, withOrigin } from './logins.js';
import { ConnectMs, Outgoing, outgoingOf, Protocol } from './sessions.js';

const HeartbeatEntry = component('HeartbeatEntry', {
  at: Time,
  accountId: Guid,
  username: z.string(),
  sessionId: Guid,
  ...ClientFields,
  destination: z.string(),
  protocol: Protocol,
  bytesUp: Bytes,
  bytesDown: Bytes,
  kind: z.enum(['open', 'beat', 'game', 'close']),
  gameId: z.string().nullable(),
  /** From here on as in traces, by the record of the session; all are null where there is none. `address` is that of `destination`. */
  address: z.string().nullable(),
  outgoing: Outgoing.nullable(),
  exit: z.string().nullable(),
  node: z.string().nullable(),
  connectMs: ConnectMs,
});

/** A time span in which an account played one game (null: no game that a rule knows). */
const TimelineStretch = component('TimelineStretch', {
  from: Time,
  to: Time,
  gameId: z.string().nullable(),
  heartbeats: Count,
});

const HeartbeatSeries = component('HeartbeatSeries', {
  range: Range,
  stepSeconds: z.int().min(1),
  at: z.array(Time),
  /** The largest series, at most `limit`, then, if there are more, one with key null for all others together. */
  series: z.array(
    z.object({
      /** GameID or account id; null: all others, or entries without a game. */
      key: z.string().nullable(),
      /** GameID or user name; null: all others, or entries without a game. */
      label: z.string().nullable(),
      /** Whether it is the sum of all others. */
      isOthers: z.boolean(),
      total: Count,
      counts: z.array(z.number().nullable()),
    }),
  ),
});

const HeartbeatSum = component('HeartbeatSum', {
  /** GameID (null: none) or account id. */
  key: z.string().nullable(),
  label: z.string().nullable(),
  heartbeats: Count,
  accounts: Count,
  bytesUp: Bytes,
  bytesDown: Bytes,
  lastAt: Time,
});

const By = z.enum(['game', 'account']).default('game');

const { route } = routesOf('Activity');

/** Most entries of a timeline. Retention usually keeps fewer entries of an account. */
const MAX_TIMELINE_ENTRIES = 20_000;

export const heartbeatRoutes = [
  route('GET /api/v1/accounts/{id}/timeline', 'getTimeline', 'heartbeats:read', {
    summary: 'When the account was online, and in which game.',
    request: { query: z.object({ range: Range.default('day') }) },
    success: [
      200,
      'Time spans, oldest first; between them the account was offline.',
      component('Timeline', { from: Time, to: Time, stretches: z.array(TimelineStretch) }),
    ],
    async handle({ params: { id }, query }, { accounts, heartbeats, heartbeatIntervalMs, now }) {
      if (!accounts.get(id)) return NO_ACCOUNT;
      const [from = 0] = stepsOf(query.range, now());
      const entries = await heartbeats.list({ accountId: id, from }, null, MAX_TIMELINE_ENTRIES);
      // A gap of up to three intervals continues a stretch: beats may be late, and players may leave a game for a moment.
      const stretches = playedSpans(entries.reverse(), 3 * heartbeatIntervalMs);
      const shown = stretches.map((each) => withTimes(each, 'from', 'to'));
      return { body: { from: iso(from), to: iso(now()), stretches: shown } };
    },
  }),
  route('GET /api/v1/heartbeats', 'listHeartbeats', 'heartbeats:read', {
    summary: 'Heartbeat entries, newest first.',
    request: {
      query: z.object({
        ...numberCursors.PageQuery.shape,
        accountId: Guid.optional(),
        game: z.string().max(255).optional(),
        ...TimeRange,
      }),
    },
    success: [
      200,
      'A page without counts: there may be millions of entries.',
      openPageOf(HeartbeatEntry, 'HeartbeatPage'),
    ],
    async handle({ query: { limit, cursor, game: gameId, ...named } }, { heartbeats, sessionRecords, geo }) {
      const filter = withoutUndefined<HeartbeatFilter>({ ...withMs(named), gameId });
      const found = await heartbeats.list(filter, numberCursors.placeOf(cursor), limit + 1);
      const { items, nextCursor } = numberCursors.page(found, limit, ({ place }) => place);
      const records = await sessionRecords.ofEntries(items);
      const shown = items.map(({ place: _, ...entry }, i) => ({
        ...withOrigin(withTimes(entry, 'at'), geo),
        ...wayOf(records[i]),
      }));
      return { body: { items: shown, nextCursor } };
    },
  }),
  route('GET /api/v1/heartbeats/series', 'getHeartbeatSeries', 'heartbeats:read', {
    summary: 'Heartbeat entries over time, by game or by account.',
    request: {
      query: z.object({
        range: Range.default('day'),
        by: By,
        limit: z.coerce.number().int().min(1).max(20).default(6),
      }),
    },
    success: [200, 'Columns of equal length.', HeartbeatSeries],
    async handle({ query: { range, by, limit } }, { accounts, heartbeatSums }) {
      const { at, stepMs, series } = await heartbeatSums.series(range, by, limit);
      const shown = series.map((each) => ({ ...each, label: labelOf(accounts, by, each.key) }));
      return { body: { range, stepSeconds: stepMs / 1000, at: at.map(iso), series: shown } };
    },
  }),
  route('GET /api/v1/heartbeats/sums', 'getHeartbeatSums', 'heartbeats:read', {
    summary: 'Heartbeat entries summed by game or by account, largest first.',
    request: {
      query: z.object({
        range: Range.default('day'),
        by: By,
        limit: z.coerce.number().int().min(1).max(1_000).default(50),
      }),
    },
    success: [
      200,
      'Sums.',
      component('HeartbeatSums', { from: Time, to: Time, items: z.array(HeartbeatSum) }),
    ],
    async handle({ query: { range, by, limit } }, { accounts, heartbeatSums }) {
      const { from, to, items } = await heartbeatSums.largest(range, by, limit);
      const shown = items.map(({ count, ...sum }) => ({
        ...withTimes(sum, 'lastAt'),
        label: labelOf(accounts, by, sum.key),
        heartbeats: count,
      }));
      return { body: { from: iso(from), to: iso(to), items: shown } };
    },
  }),
];

const wayOf = (record: SessionRecord | undefined) => ({
  address: record?.address || null,
  outgoing: outgoingOf(record?.outgoing ?? null),
  exit: record?.exit ?? null,
  node: record?.node ?? null,
  connectMs: record?.connectMs ?? null,
});

/** GameIDs are shown as they are, accounts by their names. */
const labelOf = (
  accounts: Services['accounts'],
  by: z.infer<typeof By>,
  key: string | null,
): string | null => (key !== null && by === 'account' ? (accounts.get(key)?.account.username ?? key) : key);
