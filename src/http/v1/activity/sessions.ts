// /api/v1/sessions: live SOCKS sessions, listed and ended.
import { z } from 'zod';
import type { LiveActivity } from '../../../core/accounts/live-activity.js';
import type { AuditRecord, AuditStore } from '../../../core/audit/audit.js';
import type { Session } from '../../../core/sessions/session.js';
import type { SessionRegistry } from '../../../core/sessions/session-registry.js';
import { actorOf, type Caller } from '../../caller.js';
import { badCursor, invalid } from '../problem.js';
import { routesOf } from '../route.js';
import { Bytes, BytesPerSecond, Count, Guid, IdParams, PageQuery, pageOf, Time } from '../schemas.js';
import { pageSortedBy, type SortKeys } from '../sorted.js';
import { iso } from '../times.js';

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

export interface LiveSessionUses {
  readonly sessions: SessionRegistry;
  readonly activity: LiveActivity;
  readonly audit: Pick<AuditStore, 'add'>;
}

const { route } = routesOf<LiveSessionUses>('Activity');

export const liveSessionRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/sessions',
      operationId: 'listSessions',
      summary: 'Live SOCKS sessions: who, from where, to where, which game, how much, since when.',
      access: 'sessions:read',
      request: { query: SessionQuery },
      responses: {
        200: { description: 'A page.', schema: pageOf(LiveSession).meta({ id: 'LiveSessionPage' }) },
      },
    },
    async (
      { query: { limit, cursor, search = '', accountId, game, protocol, sort } },
      { sessions, activity },
    ) => {
      sessions.count();
      const wanted = search.toLowerCase();
      const all = accountId === undefined ? sessions.all() : sessions.ofAccount(accountId.toLowerCase());
      const matching = [...all].filter((session) => {
        if (game !== undefined && session.gameId !== game) return false;
        if (protocol !== undefined && session.protocol !== protocol) return false;
        if (wanted === '') return true;
        const { username, client, destination, gameId } = session;
        return [username, client.address, destination.host, destination.address, gameId].some((text) =>
          text?.toLowerCase().includes(wanted),
        );
      });
      const page = pageSortedBy(matching, { sort, limit, cursor }, sortKeys(activity), ({ id }) => id);
      if (!page) return badCursor();
      const { items, ...rest } = page;
      return {
        status: 200,
        body: { items: items.map((each) => present(each, activity)), ...rest, total: sessions.size },
      };
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/api/v1/sessions/{id}',
      operationId: 'endSession',
      summary: 'Ends one live session.',
      access: 'sessions:write',
      request: { params: IdParams },
      responses: { 204: { description: 'Ended.' } },
      problems: [404],
    },
    async ({ params, caller }, { sessions, audit }) => {
      const session = sessions.get(params.id.toLowerCase());
      if (!session) return { problem: 'not-found', detail: 'there is no such live session' };
      await end([session], caller, audit);
      return { status: 204 };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/sessions/end',
      operationId: 'endSessions',
      summary: 'Ends the sessions named, or all of an account. Those already gone are passed over.',
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
    },
    async ({ body: { ids, accountId }, caller }, { sessions, audit }) => {
      if ((ids === undefined) === (accountId === undefined)) {
        return invalid('body', 'give exactly one of ids and accountId');
      }
      const chosen = ids
        ? [...new Set(ids)].flatMap((id) => sessions.get(id.toLowerCase()) ?? [])
        : sessions.ofAccount(accountId?.toLowerCase() ?? '');
      return { status: 200, body: { ended: await end(chosen, caller, audit) } };
    },
  ),
];

const sortKeys = (activity: LiveActivity): SortKeys<Session> => ({
  openedAt: ({ openedAt }) => openedAt,
  username: ({ username }) => username,
  client: ({ client }) => client.address,
  destination: ({ destination }) => destination.host,
  gameId: ({ gameId }) => gameId,
  bytes: (session) => session.bytesUp + session.bytesDown,
  bytesPerSecond: ({ id }) => activity.rateOf(id).up + activity.rateOf(id).down,
});

function present(session: Session, activity: LiveActivity) {
  const { id, accountId, username, command, protocol, clientProtocol } = session;
  const { client, destination, gameId, openedAt } = session;
  const rate = activity.rateOf(id);
  return {
    id,
    accountId,
    username,
    command,
    protocol,
    clientProtocol,
    client: { address: client.address, port: client.port },
    destination: { host: destination.host, address: destination.address, port: destination.port },
    gameId,
    openedAt: iso(openedAt),
    bytesUp: session.bytesUp,
    bytesDown: session.bytesDown,
    bytesPerSecondUp: rate.up,
    bytesPerSecondDown: rate.down,
  };
}

/** Ends the sessions and records it; returns how many. */
async function end(
  chosen: readonly Session[],
  caller: Caller,
  audit: LiveSessionUses['audit'],
): Promise<number> {
  const records = chosen.map((session): AuditRecord => {
    const { address, port } = session.client;
    const { host } = session.destination;
    return {
      by: actorOf(caller),
      action: 'session.end',
      object: { type: 'session', id: session.accountId, name: session.username },
      before: { client: `${address}:${port}`, destination: `${host}:${session.destination.port}` },
      after: null,
    };
  });
  for (const session of chosen) session.end('ended-by-operator');
  await audit.add(records);
  return chosen.length;
}
