// The live sessions of all nodes: those of this process from memory, those of the other nodes from the database; and what writes
// those of this process to the database, in batches.
import type {
  LiveSessionFilter,
  LiveSessionStore,
  LiveSessionView,
  Session,
  SessionObserver,
} from './session.js';
import type { SessionRegistry } from './session-registry.js';

/** Most sessions of other nodes in one list: the newest. Counts include all. */
const MAX_LISTED_ELSEWHERE = 10_000;

export type LiveSessions = ReturnType<typeof createLiveSessions>;

export function createLiveSessions(deps: {
  readonly sessions: SessionRegistry;
  /** null: this is the only node. */
  readonly store: LiveSessionStore | null;
  readonly rateOf: RateOf;
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

    async endAccount(accountId: string): Promise<void> {
      sessions.endAccount(accountId, 'ended-by-operator');
      await store?.requestEndOfAccount(accountId);
    },
  };
}

/** The current state of a session of this process. `rate` in bytes per second. */
function viewOf(session: Session, rate: { readonly up: number; readonly down: number }) {
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

/** Byte counts are written at every tenth flush. */
const FLUSHES_PER_COUNT = 10;
const MAX_PER_WRITE = 1_000;

type RateOf = (sessionId: string) => { readonly up: number; readonly down: number };

/**
 * A session that has been open for about half a second is written, and written again when it has changed. Failed writes are retried.
 */
export class SessionReporter implements Partial<SessionObserver> {
  /** Every live session, with its bytes at the last write; null: not written yet. */
  readonly #live = new Map<Session, number | null>();
  /** Sessions opened since the last flush, which are not written yet. */
  #young = new Set<Session>();
  #due = new Set<Session>();
  #writing = new Set<Session>();
  #ended = new Set<string>();
  #flushes = 0;

  constructor(
    private readonly store: Pick<LiveSessionStore, 'write'>,
    private readonly rateOf: RateOf,
  ) {}

  opened(session: Session): void {
    this.#live.set(session, null);
    this.#young.add(session);
  }

  /** The database has it under the process before this one. */
  resumed(session: Session): void {
    this.opened(session);
  }

  destinationChanged(session: Session): void {
    this.#changed(session);
  }

  gameChanged(session: Session): void {
    this.#changed(session);
  }

  #changed(session: Session): void {
    if (this.#live.has(session) && !this.#young.has(session)) this.#due.add(session);
  }

  closed(session: Session): void {
    const written = this.#live.get(session) ?? null;
    this.#live.delete(session);
    this.#young.delete(session);
    this.#due.delete(session);
    if (written !== null || this.#writing.has(session)) this.#ended.add(session.id);
  }

  /** Writes all sessions again, because the database may have lost them. */
  rewrite(): void {
    for (const [session, written] of this.#live) if (written !== null) this.#due.add(session);
  }

  /**
   * Call it twice a second, one call at a time. A session is written at the second call after it was opened. Rejects with the error
   * of the database, and keeps everything for the next call then.
   */
  async flush(): Promise<void> {
    this.#flushes += 1;
    if (this.#flushes % FLUSHES_PER_COUNT === 0) this.#addActive();
    const ended = this.#ended;
    this.#writing = this.#due;
    this.#due = this.#young;
    this.#young = new Set();
    this.#ended = new Set();
    try {
      await this.#write([...this.#writing], [...ended]);
    } catch (error) {
      for (const session of this.#writing) if (this.#live.has(session)) this.#due.add(session);
      for (const id of ended) this.#ended.add(id);
      throw error;
    } finally {
      this.#writing = new Set();
    }
  }

  #addActive(): void {
    for (const [session, written] of this.#live) {
      if (written !== null && session.bytesUp + session.bytesDown !== written) this.#due.add(session);
    }
  }

  async #write(due: readonly Session[], ended: readonly string[]): Promise<void> {
    for (let start = 0; start < Math.max(due.length, ended.length); start += MAX_PER_WRITE) {
      const batch = due
        .slice(start, start + MAX_PER_WRITE)
        .map((session) => ({ session, view: viewOf(session, this.rateOf(session.id)) }));
      await this.store.write(
        batch.map(({ view }) => view),
        ended.slice(start, start + MAX_PER_WRITE),
      );
      for (const { session, view } of batch) {
        if (this.#live.has(session)) this.#live.set(session, view.bytesUp + view.bytesDown);
      }
    }
  }
}
