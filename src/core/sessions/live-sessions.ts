// The live sessions of all nodes: those of this process from memory, those of the other nodes from the database.
import type { LiveSessionFilter, LiveSessionStore, LiveSessionView, Session } from './session.js';
import type { SessionRegistry } from './session-registry.js';

/** Most sessions of other nodes in one list: the newest. Counts include all. */
const MAX_LISTED_ELSEWHERE = 10_000;

export type LiveSessions = ReturnType<typeof createLiveSessions>;

export function createLiveSessions(deps: {
  readonly sessions: SessionRegistry;
  /** null: this is the only node. */
  readonly store: LiveSessionStore | null;
  readonly rateOf: (sessionId: string) => { readonly up: number; readonly down: number };
  readonly node: string;
}) {
  const { sessions, store, rateOf, node } = deps;
  const view = (session: Session): LiveSessionView => ({ ...viewOf(session, rateOf(session.id)), node });

  async function list(filter: LiveSessionFilter) {
    sessions.count();
    const { accountId } = filter;
    const here = accountId === undefined ? sessions.all() : sessions.ofAccount(accountId);
    const items: LiveSessionView[] = [];
    for (const session of here) if (matches(session, filter)) items.push(view(session));
    const elsewhere = await store?.list(filter, MAX_LISTED_ELSEWHERE);
    return {
      items: [...items, ...(elsewhere?.items ?? [])],
      matched: items.length + (elsewhere?.matched ?? 0),
      total: sessions.total,
    };
  }

  return {
    /** `matched` counts all matching sessions, of which `items` may lack some of other nodes. `total` counts all sessions. */
    list,

    async find(ids: readonly string[]): Promise<LiveSessionView[]> {
      const here = ids.flatMap((id) => sessions.get(id) ?? []);
      const missing = ids.filter((id) => !sessions.get(id));
      const elsewhere = missing.length === 0 ? [] : await store?.byIds(missing);
      return [...here.map(view), ...(elsewhere ?? [])];
    },

    ofAccount: async (accountId: string): Promise<LiveSessionView[]> =>
      (await list({ search: '', accountId })).items,

    /** Ends the sessions of this node immediately, and requests the other nodes to end theirs. */
    async end(chosen: readonly LiveSessionView[]): Promise<void> {
      const elsewhere = chosen.filter(({ id }) => !sessions.get(id)).map(({ id }) => id);
      for (const { id } of chosen) sessions.get(id)?.end('ended-by-operator');
      if (elsewhere.length > 0) await store?.requestEnd(elsewhere);
    },

    /** Ends every session of an account on every node. */
    async endAccount(accountId: string): Promise<void> {
      sessions.endAccount(accountId, 'ended-by-operator');
      await store?.requestEndOfAccount(accountId);
    },
  };
}

/** The current state of a session of this process. `rate` in bytes per second. */
export function viewOf(session: Session, rate: { readonly up: number; readonly down: number }) {
  const { id, accountId, username, command, protocol, clientProtocol } = session;
  const { client, destination, openedAt, gameId, via, exit, outgoing, connectMs } = session;
  return {
    id,
    accountId,
    username,
    command,
    protocol,
    clientProtocol,
    client,
    destination,
    openedAt,
    gameId,
    via,
    exit,
    outgoing,
    connectMs,
    bytesUp: session.bytesUp,
    bytesDown: session.bytesDown,
    rateUp: rate.up,
    rateDown: rate.down,
  };
}

function matches(session: Session, { search, game, protocol }: LiveSessionFilter): boolean {
  if (game !== undefined && session.gameId !== game) return false;
  if (protocol !== undefined && session.protocol !== protocol) return false;
  if (search === '') return true;
  const { username, client, gameId, destination } = session;
  const end = `:${destination.port}/${session.protocol}`;
  return [username, client.address, destination.host + end, destination.address + end, gameId].some((text) =>
    text?.toLowerCase().includes(search),
  );
}

export function sessionsOfSeller(sessions: LiveSessions, owns: (accountId: string) => boolean): LiveSessions {
  const own = (found: readonly LiveSessionView[]): LiveSessionView[] =>
    found.filter(({ accountId }) => owns(accountId));
  return {
    async list(filter) {
      const items = own((await sessions.list(filter)).items);
      const all = own((await sessions.list({ search: '' })).items);
      return { items, matched: items.length, total: all.length };
    },
    find: async (ids) => own(await sessions.find(ids)),
    ofAccount: async (accountId) => (owns(accountId) ? sessions.ofAccount(accountId) : []),
    end: (chosen) => sessions.end(own(chosen)),
    endAccount: async (accountId) => (owns(accountId) ? sessions.endAccount(accountId) : undefined),
  };
}
