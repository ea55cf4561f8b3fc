// The live_sessions table, with which nodes publish their sessions to each other. Reads ignore rows of nodes whose lease has expired,
// because their sessions may have ended.
import type { Knex } from 'knex';
import type {
  LiveSessionFilter,
  LiveSessionStore,
  LiveSessionView,
} from '../../core/sessions/live-session-store.js';
import type { RecordChange } from '../changes.js';
import { containing, type Integer } from '../sql/statements.js';
import { inTransaction } from '../sql/transaction.js';
import { PG_NOW_MS } from './changes.js';

interface SessionRow {
  id: string;
  account_id: string;
  username: string;
  client: string;
  host: string;
  address: string;
  protocol: LiveSessionView['protocol'];
  game_id: string | null;
  opened_at: Integer;
  bytes_up: Integer;
  bytes_down: Integer;
  rate_up: number;
  rate_down: number;
  facts: Facts;
  node: string;
}

/** Further fields, stored as JSON. */
interface Facts {
  readonly command: LiveSessionView['command'];
  readonly clientProtocol: LiveSessionView['clientProtocol'];
  readonly clientPort: number;
  readonly port: number;
  readonly via?: string | null;
  /** Undefined: a node of an earlier version has written them. */
  readonly outgoing?: LiveSessionView['outgoing'];
  readonly connectMs?: number | null;
}

/** Deletes rows of processes that no longer run. A frozen process keeps its rows: they are listed again when it continues. */
const TRIM = `delete from live_sessions where process not in (select process from nodes where lease_until is not null)`;

/** @param process GUID of this process, as in the nodes table; its own rows are not read */
export function createPgLiveSessionStore(
  { db, reads }: { readonly db: Knex; readonly reads: Knex },
  process: string,
  recordChange: RecordChange,
): LiveSessionStore {
  const live = (): Knex.QueryBuilder =>
    reads('live_sessions as session')
      .join('nodes as node', 'node.process', 'session.process')
      .where('session.process', '<>', process)
      .whereRaw(`node.lease_until >= ${PG_NOW_MS}`);
  const views = (query: Knex.QueryBuilder): Promise<LiveSessionView[]> =>
    query.select('session.*', 'node.name as node').then((rows: SessionRow[]) => rows.map(toView));

  /** `host:port/protocol`, as lists show it. */
  const destination = (column: string): Knex.Raw =>
    reads.raw(`session.${column} || ':' || (session.facts->>'port') || '/' || session.protocol`);

  function matching({ search, accountId, game, protocol }: LiveSessionFilter): Knex.QueryBuilder {
    const query = live();
    if (accountId !== undefined) query.where('session.account_id', accountId);
    if (game !== undefined) query.where('session.game_id', game);
    if (protocol !== undefined) query.where('session.protocol', protocol);
    if (search !== '') {
      query.where((any) => {
        for (const column of ['username', 'client', 'game_id'])
          any.orWhere(containing(reads, `session.${column}`, search));
        for (const column of ['host', 'address']) any.orWhere(containing(reads, destination(column), search));
      });
    }
    return query;
  }

  return {
    async write(sessions, endedIds) {
      if (sessions.length > 0) await upsert(db, process, sessions);
      if (endedIds.length > 0) await db.raw('delete from live_sessions where id = any(?)', [[...endedIds]]);
    },

    async list(filter, limit) {
      const items = await views(matching(filter).orderBy('session.opened_at', 'desc').limit(limit));
      if (items.length < limit) return { items, matched: items.length };
      const [count]: { count: Integer }[] = await matching(filter).count({ count: '*' });
      return { items, matched: Number(count?.count ?? 0) };
    },

    byIds: (ids) => views(live().whereIn('session.id', ids)),

    async byAccount() {
      const rows: {
        account_id: string;
        sessions: Integer;
        nodes: Integer;
        clients: string[];
        games: string[] | null;
        rate_up: number;
        rate_down: number;
      }[] = await live()
        .groupBy('session.account_id')
        .select(
          'session.account_id',
          reads.raw('count(*) as sessions'),
          reads.raw('count(distinct session.process) as nodes'),
          reads.raw('array_agg(distinct session.client) as clients'),
          reads.raw(
            'array_agg(distinct session.game_id) filter (where session.game_id is not null) as games',
          ),
          reads.raw('sum(session.rate_up) as rate_up'),
          reads.raw('sum(session.rate_down) as rate_down'),
        );
      return rows.map((row) => ({
        accountId: row.account_id,
        sessions: Number(row.sessions),
        nodes: Number(row.nodes),
        clientAddresses: row.clients,
        gameIds: row.games ?? [],
        rateUp: row.rate_up,
        rateDown: row.rate_down,
      }));
    },

    requestEnd: (ids) =>
      inTransaction(db, (trx) =>
        recordChange(trx, ...ids.map((id) => ({ topic: 'end-session', id }) as const)),
      ),

    requestEndOfAccount: (id) =>
      inTransaction(db, (trx) => recordChange(trx, { topic: 'end-sessions-of-account', id })),

    async trim() {
      await db.raw(TRIM);
    },
  };
}

async function upsert(
  db: Knex,
  process: string,
  now: readonly Omit<LiveSessionView, 'node'>[],
): Promise<void> {
  const rows = now.map((each) => ({
    id: each.id,
    account_id: each.accountId,
    username: each.username,
    client: each.client.address,
    host: each.destination.host,
    address: each.destination.address,
    protocol: each.protocol,
    game_id: each.gameId,
    opened_at: each.openedAt,
    bytes_up: each.bytesUp,
    bytes_down: each.bytesDown,
    rate_up: each.rateUp,
    rate_down: each.rateDown,
    facts: {
      command: each.command,
      clientProtocol: each.clientProtocol,
      clientPort: each.client.port,
      port: each.destination.port,
      via: each.via,
      outgoing: each.outgoing,
      connectMs: each.connectMs,
    } satisfies Facts,
  }));
  await db.raw(
    `insert into live_sessions (id, process, account_id, username, client, host, address, protocol, game_id, opened_at,
       bytes_up, bytes_down, rate_up, rate_down, facts)
     select id, ?, account_id, username, client, host, address, protocol, game_id, opened_at,
       bytes_up, bytes_down, rate_up, rate_down, facts
     from jsonb_to_recordset(?::jsonb) as row(id text, account_id text, username text, client text, host text, address text,
       protocol text, game_id text, opened_at bigint, bytes_up bigint, bytes_down bigint, rate_up float8, rate_down float8, facts jsonb)
     on conflict (id) do update set process = excluded.process, host = excluded.host, address = excluded.address,
       game_id = excluded.game_id, bytes_up = excluded.bytes_up, bytes_down = excluded.bytes_down,
       rate_up = excluded.rate_up, rate_down = excluded.rate_down, facts = excluded.facts`,
    [process, JSON.stringify(rows)],
  );
}

function toView(row: SessionRow): LiveSessionView {
  const {
    command,
    clientProtocol,
    clientPort,
    port,
    via = null,
    outgoing = null,
    connectMs = null,
  } = row.facts;
  return {
    id: row.id,
    accountId: row.account_id,
    username: row.username,
    command,
    protocol: row.protocol,
    clientProtocol,
    client: { address: row.client, port: clientPort },
    destination: { host: row.host, address: row.address, port },
    openedAt: Number(row.opened_at),
    gameId: row.game_id,
    via,
    outgoing,
    connectMs,
    bytesUp: Number(row.bytes_up),
    bytesDown: Number(row.bytes_down),
    rateUp: row.rate_up,
    rateDown: row.rate_down,
    node: row.node,
  };
}
