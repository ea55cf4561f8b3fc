// /api/v1/sessions: lists and ends live SOCKS sessions.
import { z } from 'zod';
import { originOf } from '../../../core/addresses/geo.js';
import type { Endpoint } from '../../../core/addresses/ip.js';
import { type Actor, type AuditRecord, auditRecord } from '../../../core/audit/audit.js';
import type { LiveSessionView } from '../../../core/sessions/session.js';
import { iso } from '../../../core/time/clock.js';
import { failure, invalid } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { Bytes, BytesPerSecond, Count, component, Guid, pageOf, Time } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { pageSortedBy, type SortKeys, sortBy, sortedCursors } from '../cursors.js';
import { ClientFields } from './logins.js';

export const Protocol = z.enum(['tcp', 'udp']);
/** `address` is null for UDP that the exit binds to none: the system chooses one for each destination. */
export const Outgoing = z.object({ address: z.string().nullable(), port: z.int() });
/** From the request to the connection, with the lookup of the name. Null for UDP. */
export const ConnectMs = z.int().min(0).nullable();

const LiveSession = component('LiveSession', {
  id: Guid,
  accountId: Guid,
  username: z.string(),
  command: z.enum(['connect', 'bind', 'udp-associate']),
  protocol: Protocol,
  /** The protocol of the client. */
  clientProtocol: z.enum(['socks5', 'socks4', 'http']),
  client: z.object({ address: z.string(), port: z.int() }),
  clientOrigin: ClientFields.clientOrigin,
  /** `host` is the requested host, `address` the address that the daemon connected to. */
  destination: z.object({ host: z.string(), address: z.string(), port: z.int() }),
  gameId: z.string().nullable(),
  /** Our end of the connection to the destination, or to the upstream proxy. `address` is null for UDP, unless the exit names it. */
  outgoing: Outgoing.nullable(),
  /** The upstream proxy, as host:port; null: direct. */
  via: z.string().nullable(),
  /** The name of the exit; null: none. */
  exit: z.string().nullable(),
  connectMs: ConnectMs,
  openedAt: Time,
  bytesUp: Bytes,
  bytesDown: Bytes,
  bytesPerSecondUp: BytesPerSecond,
  bytesPerSecondDown: BytesPerSecond,
  /** Name of the session's node. The counts of other nodes' sessions are up to five seconds old. */
  node: z.string(),
});

const SORTS = {
  openedAt: ({ openedAt }) => openedAt,
  username: ({ username }) => username,
  client: ({ client }) => client.address,
  destination: ({ destination }) => destination.host,
  gameId: ({ gameId }) => gameId,
  bytes: ({ bytesUp, bytesDown }) => bytesUp + bytesDown,
  bytesPerSecond: ({ rateUp, rateDown }) => rateUp + rateDown,
} as const satisfies SortKeys<LiveSessionView, null>;
const SessionQuery = z.object({
  ...sortedCursors.PageQuery.shape,
  /** In user name, client address, destination (`host:port/tcp`) and GameID. */
  search: z.string().max(255).optional(),
  accountId: Guid.optional(),
  game: z.string().max(255).optional(),
  protocol: Protocol.optional(),
  sort: sortBy(SORTS).default('-openedAt'),
});

const { route } = routesOf('Activity');

export const liveSessionRoutes = [
  route('GET /api/v1/sessions', 'listSessions', 'sessions:read', {
    summary: 'Live SOCKS sessions: who, from where, to where, which game, how much, since when.',
    request: { query: SessionQuery },
    success: [200, 'A page.', pageOf(LiveSession, 'LiveSessionPage')],
    async handle({ query: { limit, cursor, search = '', sort, ...filter } }, { liveSessions, geo }) {
      const found = await liveSessions.list({ ...filter, search: search.toLowerCase() });
      const { items: matching, matched, total } = found;
      const page = pageSortedBy(matching, { sort, limit, cursor }, SORTS, null, ({ id }) => id);
      const items = page.items.map((each) => ({
        ...present(each),
        clientOrigin: originOf(each.client.address, geo),
      }));
      return { body: { ...page, items, matched, total } };
    },
  }),
  route('DELETE /api/v1/sessions/{id}', 'endSession', 'sessions:write', {
    summary: 'Ends one live session.',
    success: [204, 'Ended.'],
    async handle({ params, caller }, { liveSessions, audit }) {
      const found = await liveSessions.find([params.id]);
      if (found.length === 0) return failure('not-found', 'no-session');
      await liveSessions.end(found);
      await audit.add(endRecords(found, actorOf(caller)));
      return DONE;
    },
  }),
  route('POST /api/v1/sessions/end', 'endSessions', 'sessions:write', {
    summary:
      'Ends the given sessions, or all sessions of an account. Sessions that have already ended are skipped.',
    request: {
      body: z
        .object({ ids: z.array(Guid).min(1).max(1_000).optional(), accountId: Guid.optional() })
        .meta({ id: 'EndSessions', description: 'Exactly one of the two.' }),
    },
    success: [200, 'The number of ended sessions.', component('EndedSessions', { ended: Count })],
    async handle({ body: { ids, accountId }, caller }, { liveSessions, audit }) {
      if ((ids === undefined) === (accountId === undefined)) {
        return invalid('body', 'one-of', { allowed: 'ids, accountId' });
      }
      const ended = ids
        ? await liveSessions.find([...new Set(ids)])
        : await liveSessions.ofAccount(accountId ?? '');
      if (accountId === undefined) await liveSessions.end(ended);
      else await liveSessions.endAccount(accountId);
      const by = actorOf(caller);
      // Several ended sessions are one entry, which contains an entry of each.
      const importId =
        ended.length < 2
          ? undefined
          : await audit.begin(auditRecord(by, 'session.end', SEVERAL, null, { count: ended.length }));
      await audit.add(endRecords(ended, { ...by, importId }));
      return { body: { ended: ended.length } };
    },
  }),
];

function present({ client, destination, openedAt, outgoing, rateUp, rateDown, ...session }: LiveSessionView) {
  return {
    ...session,
    client: endOf(client),
    destination: { host: destination.host, ...endOf(destination) },
    outgoing: outgoingOf(outgoing),
    openedAt: iso(openedAt),
    bytesPerSecondUp: rateUp,
    bytesPerSecondDown: rateDown,
  };
}

export const outgoingOf = (end: Endpoint | null) =>
  end === null || end.port === 0 ? null : { address: end.address || null, port: end.port };
const endOf = ({ address, port }: Endpoint): Endpoint => ({ address, port });

const SEVERAL: AuditRecord['object'] = { type: 'session', id: null, name: null };

export const endRecords = (ended: readonly LiveSessionView[], by: Actor): AuditRecord[] =>
  ended.map(({ accountId, username, client, destination }) => ({
    by,
    action: 'session.end',
    object: { type: 'session', id: accountId, name: username },
    before: {
      client: `${client.address}:${client.port}`,
      destination: `${destination.host}:${destination.port}`,
    },
    after: null,
  }));
