// /api/v1: live sessions, logins and failures, traffic per day, heartbeats over time.
import type { AccountLimitsService } from '../../core/accounts/account-limits.js';
import type { Accounts } from '../../core/accounts/accounts.js';
import type { LiveActivity } from '../../core/accounts/live-activity.js';
import type { LoginFilter, LoginStore } from '../../core/accounts/login-log.js';
import type { AuditRecord, AuditStore } from '../../core/audit/audit.js';
import type { HeartbeatFilter, HeartbeatStore } from '../../core/heartbeats/heartbeat-store.js';
import type { HeartbeatSums } from '../../core/heartbeats/heartbeat-sums.js';
import { stretchesOf } from '../../core/heartbeats/timeline.js';
import { stepsOf } from '../../core/ranges.js';
import type { Session, SessionRegistry } from '../../core/sessions/session.js';
import { pageOfSorted, type SortValue } from '../../core/sorted-page.js';
import { actorOf, type Caller } from '../caller.js';
import { NO_ACCOUNT } from './accounts.js';
import { badCursor, compact } from './audit.js';
import type { activityRoutes } from './contract/activity.js';
import type { Handlers } from './serve.js';
import { fromIso, iso } from './times.js';

export interface ActivityUses {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly sessions: SessionRegistry;
  readonly activity: LiveActivity;
  readonly limits: Pick<AccountLimitsService, 'traffic'>;
  readonly logins: Pick<LoginStore, 'list' | 'count'>;
  readonly heartbeats: Pick<HeartbeatStore, 'list'>;
  readonly heartbeatSums: HeartbeatSums;
  readonly audit: Pick<AuditStore, 'add'>;
  readonly heartbeatIntervalMs: number;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
/** Entries a timeline is made of at most; what retention keeps of an account is usually less. */
const MAX_TIMELINE_ENTRIES = 20_000;

export function activityHandlers(uses: ActivityUses): Handlers<(typeof activityRoutes)[number]> {
  const { accounts, sessions, activity, limits, logins, heartbeats, heartbeatSums, now } = uses;
  const nameOf = (id: string): string => accounts.get(id)?.account.username ?? id;

  const sortBy: Readonly<Record<string, (session: Session) => SortValue>> = {
    openedAt: ({ openedAt }) => openedAt,
    username: ({ username }) => username,
    client: ({ client }) => client.address,
    destination: ({ destination }) => destination.host,
    gameId: ({ gameId }) => gameId,
    bytes: (session) => session.bytesUp() + session.bytesDown(),
    bytesPerSecond: ({ id }) => activity.rateOf(id).up + activity.rateOf(id).down,
  };

  function present(session: Session) {
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
      bytesUp: session.bytesUp(),
      bytesDown: session.bytesDown(),
      bytesPerSecondUp: rate.up,
      bytesPerSecondDown: rate.down,
    };
  }

  async function end(chosen: readonly Session[], caller: Caller): Promise<number> {
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
    await uses.audit.add(records);
    return chosen.length;
  }

  return {
    async listSessions({ query: { limit, cursor, search = '', accountId, game, protocol, sort } }) {
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
      const descending = sort.startsWith('-');
      const page = pageOfSorted(matching, {
        limit,
        cursor,
        descending,
        valueOf: sortBy[descending ? sort.slice(1) : sort] ?? (() => null),
        idOf: ({ id }) => id,
      });
      if (!page) return badCursor();
      const { items, ...rest } = page;
      return { status: 200, body: { items: items.map(present), ...rest, total: sessions.size } };
    },

    async endSession({ params, caller }) {
      const session = sessions.get(params.id.toLowerCase());
      if (!session) return { problem: 'not-found', detail: 'there is no such live session' };
      await end([session], caller);
      return { status: 204 };
    },

    async endSessions({ body: { ids, accountId }, caller }) {
      if ((ids === undefined) === (accountId === undefined)) {
        const message = 'give exactly one of ids and accountId';
        return { problem: 'validation', errors: [{ path: 'body', message }] };
      }
      const chosen = ids
        ? [...new Set(ids)].flatMap((id) => sessions.get(id.toLowerCase()) ?? [])
        : sessions.ofAccount(accountId?.toLowerCase() ?? '');
      return { status: 200, body: { ended: await end(chosen, caller) } };
    },

    async listLogins({ query: { limit, cursor, accountId, ...named } }) {
      const before = placeOf(cursor);
      if (before === 'malformed') return badCursor();
      const filter = compact<LoginFilter>({ ...named, accountId: accountId?.toLowerCase() });
      const [found, matched, total] = await Promise.all([
        logins.list(filter, before, limit + 1),
        logins.count(filter),
        logins.count({}),
      ]);
      const items = found.slice(0, limit);
      return {
        status: 200,
        body: {
          items: items.map(({ place: _, at, ...entry }) => ({ at: iso(at), ...entry })),
          matched,
          total,
          nextCursor: nextOf(found, limit),
        },
      };
    },

    async getTraffic({ params, query }) {
      const id = params.id.toLowerCase();
      if (!accounts.get(id)) return NO_ACCOUNT;
      const today = Math.floor(now() / DAY_MS);
      const first = today - query.days + 1;
      const found = new Map((await limits.traffic(id, first)).map((each) => [each.day, each]));
      const days = Array.from({ length: query.days }, (_, i) => {
        const { bytesUp = 0, bytesDown = 0, sessions: opened = 0 } = found.get(first + i) ?? {};
        return { day: iso((first + i) * DAY_MS).slice(0, 10), bytesUp, bytesDown, sessions: opened };
      });
      return { status: 200, body: { days } };
    },

    async getTimeline({ params, query }) {
      const id = params.id.toLowerCase();
      if (!accounts.get(id)) return NO_ACCOUNT;
      const [from = 0] = stepsOf(query.range, now());
      const entries = await heartbeats.list({ accountId: id, from }, null, MAX_TIMELINE_ENTRIES);
      // Two beats may be a little late, and a game be left for a moment.
      const stretches = stretchesOf(entries.reverse(), 3 * uses.heartbeatIntervalMs);
      return {
        status: 200,
        body: {
          from: iso(from),
          to: iso(now()),
          stretches: stretches.map((each) => ({ ...each, from: iso(each.from), to: iso(each.to) })),
        },
      };
    },

    async listHeartbeats({ query: { limit, cursor, accountId, game, from, to } }) {
      const before = placeOf(cursor);
      if (before === 'malformed') return badCursor();
      const filter = compact<HeartbeatFilter>({
        accountId: accountId?.toLowerCase(),
        gameId: game,
        from: from === undefined ? undefined : fromIso(from),
        to: to === undefined ? undefined : fromIso(to),
      });
      const found = await heartbeats.list(filter, before, limit + 1);
      const items = found.slice(0, limit).map(({ place: _, at, ...entry }) => ({ at: iso(at), ...entry }));
      return { status: 200, body: { items, nextCursor: nextOf(found, limit) } };
    },

    async getHeartbeatSeries({ query: { range, by, limit } }) {
      const { at, stepMs, series } = await heartbeatSums.series(range, by, limit);
      return {
        status: 200,
        body: {
          range,
          stepSeconds: stepMs / 1000,
          at: at.map(iso),
          series: series.map(({ key, total, counts }) => ({
            key,
            label: key !== null && by === 'account' ? nameOf(key) : key,
            total,
            counts,
          })),
        },
      };
    },

    async getHeartbeatSums({ query: { range, by, limit } }) {
      const { from, to, items } = await heartbeatSums.largest(range, by, limit);
      return {
        status: 200,
        body: {
          from: iso(from),
          to: iso(to),
          items: items.map(({ key, count, accounts: players, bytesUp, bytesDown, lastAt }) => ({
            key,
            label: key !== null && by === 'account' ? nameOf(key) : key,
            heartbeats: count,
            accounts: players,
            bytesUp,
            bytesDown,
            lastAt: iso(lastAt),
          })),
        },
      };
    },
  };
}

function placeOf(cursor: string | undefined): number | null | 'malformed' {
  if (cursor === undefined) return null;
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 'malformed';
}

function nextOf(found: readonly { readonly place: number }[], limit: number): string | null {
  const last = found[limit - 1];
  return found.length > limit && last ? String(last.place) : null;
}
