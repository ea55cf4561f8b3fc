// What nodes tell each other about players: their live sessions, permits of sessions, penalties of sources.
import type { Knex } from 'knex';
import type { HeldPermit, PermitStore } from '../../core/accounts/access/held-permits.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { PenaltyStore } from '../../core/auth/penalties.js';
import type { LiveSessionFilter, LiveSessionStore, LiveSessionView } from '../../core/sessions/session.js';
import type { Database } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { containingIn, countOf, find, fromRow, having, inTransaction, jsonText, toRow } from '../sql.js';
import { PG_NOW_MS } from './changes.js';

/** A row, with its columns as fields. */
type Columns = Omit<LiveSessionView, 'client' | 'destination' | 'command' | 'clientProtocol'> & {
  readonly client: string;
  readonly host: string;
  readonly address: string;
  readonly facts: Facts;
  readonly process: string;
};

/** Further fields, stored as JSON. Undefined: a node of an earlier version has written them. */
type Facts = Pick<LiveSessionView, 'command' | 'clientProtocol'> &
  Partial<Pick<LiveSessionView, 'via' | 'exit' | 'outgoing' | 'connectMs'>> & {
    readonly clientPort: number;
    readonly port: number;
  };

/** Deletes rows of processes that no longer run. A frozen process keeps its rows: they count again when it continues. */
async function deleteOfEnded(db: Knex, table: 'live_sessions' | 'session_permits'): Promise<void> {
  const running = db('nodes').whereNotNull('lease_until').select('process');
  await db(table).whereNotIn('process', running).delete();
}

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
    query.select('session.*', 'node.name as node').then((rows: object[]) => rows.map(toView));

  /** `host:port/protocol`, as lists show it. */
  const destination = (column: string): Knex.Raw =>
    reads.raw(`session.${column} || ':' || (session.facts->>'port') || '/' || session.protocol`);

  function matching({ search, accountId, game, protocol }: LiveSessionFilter): Knex.QueryBuilder {
    const query = live();
    having(query, { 'session.account_id': accountId, 'session.game_id': game, 'session.protocol': protocol });
    const texts = ['session.username', 'session.client', 'session.game_id'];
    const columns = [...texts, destination('host'), destination('address')];
    return search === '' ? query : containingIn(reads, query, columns, search);
  }

  return {
    async write(sessions, endedIds) {
      if (sessions.length > 0) await upsert(db, process, sessions);
      if (endedIds.length > 0) await db.raw('delete from live_sessions where id = any(?)', [[...endedIds]]);
    },

    async list(filter, limit) {
      const items = await views(matching(filter).orderBy('session.opened_at', 'desc').limit(limit));
      if (items.length < limit) return { items, matched: items.length };
      return { items, matched: await countOf(matching(filter)) };
    },

    byIds: (ids) => views(live().whereIn('session.id', ids)),

    async byAccount() {
      const query = live()
        .groupBy('session.account_id')
        .select(
          'session.account_id',
          reads.raw('count(*) as sessions'),
          reads.raw('count(distinct session.process) as nodes'),
          reads.raw('array_agg(distinct session.client) as client_addresses'),
          reads.raw(
            `coalesce(array_agg(distinct session.game_id) filter (where session.game_id is not null), '{}') as game_ids`,
          ),
          reads.raw('sum(session.rate_up) as rate_up'),
          reads.raw('sum(session.rate_down) as rate_down'),
        );
      return find(query);
    },

    requestEnd: (ids) => inTransaction(db, (trx) => recordChange(trx, 'end-session', ...ids)),
    requestEndOfAccount: (id) => inTransaction(db, (trx) => recordChange(trx, 'end-sessions-of-account', id)),

    trim: () => deleteOfEnded(db, 'live_sessions'),
  };
}

async function upsert(
  db: Knex,
  process: string,
  now: readonly Omit<LiveSessionView, 'node'>[],
): Promise<void> {
  const rows = now.map(
    ({ client, destination, command, clientProtocol, via, exit, outgoing, connectMs, ...session }) => {
      const others = { command, clientProtocol, via, exit, outgoing, connectMs };
      const facts: Facts = { ...others, clientPort: client.port, port: destination.port };
      const { host, address } = destination;
      return { ...toRow(session), client: client.address, host, address, facts };
    },
  );
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
    [process, jsonText(rows)],
  );
}

function toView(row: object): LiveSessionView {
  const { client, host, address, facts, process: _, ...session } = fromRow<Columns>(row);
  const { clientPort, port, ...others } = facts;
  return {
    ...session,
    via: null,
    exit: null,
    outgoing: null,
    connectMs: null,
    ...others,
    client: { address: client, port: clientPort },
    destination: { host, address, port },
  };
}

/** @param process GUID of this process, as in the nodes table */
export function createPgPermitStore(db: Knex, process: string, recordChange: RecordChange): PermitStore {
  return {
    async exchange({ endedIds, held, wanted, leaseMs }) {
      const { rows }: { rows: { refused_id: string; refusal: LimitRefusal }[] } = await db.raw(
        'select * from exchange_session_permits(?, ?, ?::jsonb, ?::jsonb, ?::jsonb)',
        [
          process,
          leaseMs,
          JSON.stringify(endedIds),
          JSON.stringify(held.map(toPermitRow)),
          JSON.stringify(
            wanted.map(({ maxSessions, maxClientAddresses, ...permit }, n) => ({
              ...toPermitRow(permit),
              n,
              max_sessions: maxSessions,
              max_clients: maxClientAddresses,
            })),
          ),
        ],
      );
      return new Map(rows.map(({ refused_id, refusal }) => [refused_id, refusal]));
    },

    async findSurplus(accountId, { maxSessions, maxClientAddresses }) {
      const { rows }: { rows: { surplus_id: string; surplus_process: string }[] } = await db.raw(
        'select * from surplus_session_permits(?, ?, ?)',
        [accountId, maxSessions, maxClientAddresses] as Knex.RawBinding[],
      );
      const [here, elsewhere] = [true, false].map((isHere) =>
        rows.filter((row) => (row.surplus_process === process) === isHere).map((row) => row.surplus_id),
      ) as [string[], string[]];
      if (elsewhere.length > 0)
        await inTransaction(db, (trx) => recordChange(trx, 'revoke-permit', ...elsewhere));
      return here;
    },

    trim: () => deleteOfEnded(db, 'session_permits'),
  };
}

const toPermitRow = ({ id, accountId, client }: HeldPermit) => ({ id, account_id: accountId, client });

/** Most rows in the table. */
const MAX_PENALTIES = 20_000;
/** Advisory lock, the same in every version of Pulsegate: nodes write penalties one after another. */
const PENALTIES_LOCK = 7_305_808_872;

export function createPgPenaltyStore(
  { db, following }: Pick<Database, 'db' | 'following'>,
  recordChange: RecordChange,
  maxPenalties = MAX_PENALTIES,
): PenaltyStore {
  return {
    add: (penalties) =>
      inTransaction(db, async (trx) => {
        await trx.raw('select pg_advisory_xact_lock(?)', [PENALTIES_LOCK]);
        await trx.raw(`delete from penalties where ends_at <= ${PG_NOW_MS}`);
        await trx.raw(
          `insert into penalties (key, ends_at)
           select key, ${PG_NOW_MS} + left_ms from jsonb_to_recordset(?::jsonb) as row (key text, left_ms bigint)
           on conflict (key) do update set ends_at = greatest(penalties.ends_at, excluded.ends_at)`,
          [JSON.stringify(penalties.map(({ key, leftMs }) => ({ key, left_ms: leftMs })))],
        );
        await trx.raw(
          'delete from penalties where key in (select key from penalties order by ends_at desc offset ?)',
          [maxPenalties],
        );
        await recordChange(trx, 'penalty', ...penalties.map(({ key }) => key));
      }),

    async live(keys) {
      const query = following('penalties')
        .whereRaw(`ends_at > ${PG_NOW_MS}`)
        .select('key', db.raw(`ends_at - ${PG_NOW_MS} as left_ms`));
      if (keys) query.whereIn('key', [...keys]);
      return find(query);
    },
  };
}
