// /api/v1/trace: who used a destination at a time, in the answer to an abuse report. Each search is in the audit log.
import { z } from 'zod';
import { parseCidr, parseIp, sortableRange } from '../../../core/addresses/ip.js';
import { fromIso, isoOrNull, withTimes } from '../../../core/time/clock.js';
import {
  type RecordPlace,
  readReport,
  type SessionRecord,
  type TraceQuestion,
  type Unmatched,
} from '../../../core/trace/session-record.js';
import { invalid } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { Bytes, Count, component, fault, Guid, openPageOf, Time, TimeIn } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { recordCursors } from '../cursors.js';
import { ClientFields, withOrigin } from './logins.js';
import { ConnectMs, Outgoing, outgoingOf, Protocol } from './sessions.js';

const Port = z.coerce.number().int().min(1).max(65_535);
/** Longer ones would read a large part of the records. */
const MAX_TOLERANCE_MS = 12 * 3_600_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const NAME = /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** Returns NaN for other text. */
function durationOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

/** Returns the addresses, or the name in lower case; null for text that is neither. */
function destinationOf(text: string): TraceQuestion['destination'] {
  const network = parseCidr(text);
  if (network !== null) return sortableRange(network);
  const name = text.toLowerCase().replace(/\.$/, '');
  return NAME.test(name) && !/^[\d.]+$/.test(name) ? name : null;
}

const TraceItem = component('TraceItem', {
  /** The name at that time. The account may be removed. */
  account: z.object({ id: Guid, username: z.string() }),
  /** The origin by the files of today. */
  ...ClientFields,
  /** Our end as the destination sees it. Its `address` is null for UDP, unless the exit names it; null: an upstream proxy has it. */
  outgoing: Outgoing.nullable(),
  destination: z.object({ host: z.string(), address: z.string(), port: z.int() }),
  protocol: Protocol,
  session: Guid,
  node: z.string(),
  /** The name of the exit; null: none. */
  exit: z.string().nullable(),
  startedAt: Time,
  connectMs: ConnectMs,
  /** null: it runs, or its node has been killed and not started since. */
  endedAt: Time.nullable(),
  isLive: z.boolean(),
  /** Of UDP: of the whole association. null: unknown; the daemon was killed, and `endedAt` is its next start. */
  bytesUp: Bytes.nullable(),
  bytesDown: Bytes.nullable(),
});

/** Why an answer may lack a session. */
const Incomplete = z
  .object({
    reason: z.enum([
      'not-recorded',
      'before-records',
      'records-dropped',
      'destinations-beyond-limit',
      'addresses-unknown',
      'in-the-future',
    ]),
    /** Number of sessions, or of dropped records. */
    count: Count.optional(),
    /** Start of the oldest record. */
    since: Time.nullable().optional(),
  })
  .meta({
    id: 'TraceIncomplete',
    description:
      'not-recorded: the retention is 0; before-records: the range begins before the oldest record; records-dropped: the database did not take them; destinations-beyond-limit: UDP associations with more destinations than are recorded; addresses-unknown: an upstream proxy has resolved the name; in-the-future: the range begins after now.',
  });

const Trace = openPageOf(TraceItem)
  .extend({ incomplete: z.array(Incomplete) })
  .meta({ id: 'Trace' });

const ReportEnd = z.object({
  address: z.string().nullable(),
  port: z.int().nullable(),
  /** What the words beside it say; null: nothing clear. */
  role: z.enum(['outgoing', 'destination']).nullable(),
});
const ReportTime = z.object({
  /** As written. */
  text: z.string(),
  /** Without an offset: `2026-11-19T03:21:41`. */
  local: z.string(),
  /** null: the text names no zone, or one that has several meanings. */
  offset: z.string().nullable(),
});

const { route } = routesOf('Activity');

export const traceRoutes = [
  route('GET /api/v1/trace', 'trace', 'trace:read', {
    summary: 'Who used a destination at a time: the sessions of all nodes, the last started first.',
    request: {
      query: z.object({
        ...recordCursors.PageQuery.shape,
        /** An address, a network or a name. It or `outgoingPort` is needed. */
        destination: z
          .string()
          .max(255)
          .refine(
            (text) => destinationOf(text) !== null,
            fault('format', { format: '198.51.100.7, 198.51.100.0/24, host.example' }),
          )
          .optional(),
        port: Port.optional(),
        /** Our address as the destination has seen it. Sessions with an unknown or a private one match too. */
        outgoing: z
          .string()
          .max(64)
          .refine((text) => parseIp(text) !== null, fault('format', { format: '192.0.2.1, 2001:db8::1' }))
          .optional(),
        outgoingPort: Port.optional(),
        at: TimeIn,
        /** How far the time may be off, in both directions: at most 12h. */
        tolerance: z
          .string()
          .refine((text) => durationOf(text) <= MAX_TOLERANCE_MS, fault('format', { format: '90s, 5m, 12h' }))
          .default('5m'),
      }),
    },
    success: [200, 'A page.', Trace],
    async handle({ query, caller }, services) {
      const { sessionRecords, flushRecords, liveSessions, retention, geo, audit, now } = services;
      const { limit, cursor, destination, port, outgoing, outgoingPort, at, tolerance } = query;
      if (destination === undefined && outgoingPort === undefined)
        return invalid('query.destination', 'missing');
      const question: TraceQuestion = {
        destination: destination === undefined ? null : destinationOf(destination),
        port: port ?? null,
        outgoing: { address: outgoing ?? null, port: outgoingPort ?? null },
        from: fromIso(at) - durationOf(tolerance),
        to: fromIso(at) + durationOf(tolerance),
      };
      const asked = { destination, port, outgoing, outgoingPort, at, tolerance };
      const object = { type: 'session', id: null, name: destination ?? null } as const;
      await audit.add([{ by: actorOf(caller), action: 'trace.search', object, before: null, after: asked }]);
      await flushRecords();
      const [found, unmatched, oldest] = await Promise.all([
        sessionRecords.search(question, recordCursors.placeOf(cursor), limit + 1),
        sessionRecords.unmatched(question),
        sessionRecords.oldest(),
      ]);
      const { items, nextCursor } = recordCursors.page(found, limit, (last) => last);
      const running = items.flatMap(({ session, endedAt }) => (endedAt === null ? session : []));
      const live = new Map((await liveSessions.find([...new Set(running)])).map((each) => [each.id, each]));
      return {
        body: {
          items: items.map((record) => withOrigin(present(record, live.get(record.session)), geo)),
          nextCursor,
          incomplete: incompleteOf(unmatched, {
            isRecording: retention.current().sessionDays > 0,
            oldest,
            from: question.from,
            now: now(),
          }),
        },
      };
    },
  }),
  route('POST /api/v1/trace/report', 'readReport', 'trace:read', {
    summary: 'Addresses, ports and times in the text of an abuse report, to choose from.',
    request: { body: component('ReportText', { text: z.string().min(1).max(60_000) }) },
    success: [
      200,
      'What was found, at most 20 of each kind.',
      component('Report', { ends: z.array(ReportEnd), times: z.array(ReportTime) }),
    ],
    handle: async ({ body }, { now }) => ({ body: readReport(body.text, now()) }),
  }),
];

function present(
  { id: _, ...record }: SessionRecord & RecordPlace,
  live: { readonly bytesUp: number; readonly bytesDown: number } | undefined,
): Omit<z.input<typeof TraceItem>, 'clientOrigin'> {
  const { accountId, username, outgoing, host, address, port, ...shown } = record;
  return {
    ...withTimes(shown, 'startedAt', 'endedAt'),
    ...(live && { bytesUp: live.bytesUp, bytesDown: live.bytesDown }),
    account: { id: accountId, username },
    outgoing: outgoingOf(outgoing),
    destination: { host, address, port },
    isLive: live !== undefined,
  };
}

function incompleteOf(
  { dropped, otherDestinations, unknownAddresses }: Unmatched,
  records: Readonly<{ isRecording: boolean; oldest: number | null; from: number; now: number }>,
): z.input<typeof Incomplete>[] {
  const { isRecording, oldest, from, now } = records;
  const reasons: z.input<typeof Incomplete>[] = [];
  if (!isRecording) reasons.push({ reason: 'not-recorded' });
  if (oldest === null || from < oldest) reasons.push({ reason: 'before-records', since: isoOrNull(oldest) });
  if (dropped > 0) reasons.push({ reason: 'records-dropped', count: dropped });
  if (otherDestinations > 0) reasons.push({ reason: 'destinations-beyond-limit', count: otherDestinations });
  if (unknownAddresses > 0) reasons.push({ reason: 'addresses-unknown', count: unknownAddresses });
  if (from > now) reasons.push({ reason: 'in-the-future' });
  return reasons;
}
