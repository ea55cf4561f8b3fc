// The session_records table. A batch is one JSON value, which one statement for each kind of change processes.
import type { Knex } from 'knex';
import { type AddressRange, parseCidr, sortableRange } from '../../core/addresses/ip.js';
import { timeOfId } from '../../core/ids.js';
import { getOrAdd } from '../../core/maps.js';
import {
  addressOf,
  OTHER_DESTINATIONS,
  type RecordBatch,
  type SessionEntry,
  type SessionRecordStore,
  sortableAddress,
  type TraceQuestion,
  type Unmatched,
} from '../../core/trace/session-record.js';
import type { StoreContext } from '../database.js';
import { deleteFound, find, inTransaction, jsonText } from '../sql.js';

/** The longest duration of each class but the last, in ms: 10 minutes, 6 hours, 3 days. */
const SPANS = [600_000, 21_600_000, 259_200_000, Number.POSITIVE_INFINITY] as const;
/** The class of sessions that run. */
const RUNNING = SPANS.length;

const spanOf = (duration: string): string =>
  `case ${SPANS.slice(0, -1)
    .map((longest, span) => `when ${duration} <= ${longest} then ${span}`)
    .join(' ')} else ${SPANS.length - 1} end`;

/** How much later than its session an entry may be, in ms: the worker reports in batches. */
const ENTRY_DELAY_MS = 60_000;

/** The columns that a batch sets, in the order of its values, and those that are numbers. */
const COLUMNS = [
  'started_at',
  'ended_at',
  'outgoing_port',
  'port',
  'bytes_up',
  'bytes_down',
  'connect_ms',
  'account_id',
  'username',
  'session',
  'node',
  'client',
  'outgoing',
  'exit',
  'host',
  'address',
  'protocol',
] as const;
const NUMBERS = 7;

/** Addresses that a router may translate: an outgoing one of these is not what the destination sees. */
const TRANSLATED = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'].flatMap(
  (text) => {
    const network = parseCidr(text);
    return network === null ? [] : [sortableRange(network)];
  },
);

type Found = Awaited<ReturnType<SessionRecordStore['search']>>[number];

/** The columns of a record, as fields. */
type Stored = Omit<Found, 'outgoing'> & {
  readonly span: number;
  readonly outgoing: string;
  readonly outgoingPort: number;
};

export function createSessionRecordStore(context: StoreContext): SessionRecordStore {
  const { db, reads, isShared, isNewBatch } = context;
  const each = isShared ? 'jsonb_array_elements(?::jsonb)' : 'json_each(?)';
  const number = (i: number): string => `cast(entry.value ->> ${i} as bigint)`;
  const columns = COLUMNS.map((_, i) => (i < NUMBERS ? number(i) : `entry.value ->> ${i}`));
  // Materialized: SQLite would read the JSON again for each column, or for each open record.
  const insert = `with entry as materialized (select value from ${each})
    insert into session_records (span, ${COLUMNS.join(', ')})
    select case when ${number(1)} is null then ${RUNNING} else ${spanOf(`${number(1)} - ${number(0)}`)} end, ${columns.join(', ')}
    from entry`;
  const end = `with done as materialized (select entry.value ->> 3 as session, ${number(0)} as ended_at, ${number(1)} as bytes_up,
      ${number(2)} as bytes_down from ${each} as entry)
    update session_records set ended_at = done.ended_at, bytes_up = done.bytes_up, bytes_down = done.bytes_down,
      span = ${spanOf('done.ended_at - session_records.started_at')}
    from done where session_records.session = done.session and session_records.ended_at is null`;

  // Of a bound entry (see boundEntry). Running sessions have an index of their own.
  const idWhere = (condition: string): string =>
    `(select id from session_records where ${condition} and session = entry.value ->> 0 and port = ${number(3)}
      and (host = entry.value ->> 1 or (host = '' and address = entry.value ->> 2)) order by started_at limit 1)`;
  const idOfClass = (_: number, span: number): string =>
    idWhere(
      `span = ${span} and started_at between ${number(7 + span)} and ${number(5)} and ended_at >= ${number(6)}`,
    );
  const ofEntries = `(with entry as materialized (select value from ${each})
    select ${number(4)} as place, coalesce(${[idWhere('ended_at is null'), ...SPANS.map(idOfClass)].join(', ')}) as found
    from entry) as entries`;

  /** The rows that ran in the range of the question, those of each class by its own statement. */
  function running(
    question: Pick<TraceQuestion, 'from' | 'to'>,
    narrow: (query: Knex.QueryBuilder) => void,
  ): Knex.QueryBuilder {
    const { from, to } = question;
    const ofClass = [...SPANS, Number.POSITIVE_INFINITY].map((longest, span) => {
      const query = reads('session_records').where({ span }).where('started_at', '<=', to);
      if (longest !== Number.POSITIVE_INFINITY) query.where('started_at', '>=', from - longest);
      if (span !== RUNNING) query.where('ended_at', '>=', from);
      narrow(query);
      return query;
    });
    return reads.from(reads.unionAll(ofClass).as('records'));
  }

  return {
    write: (batch, batchNumber) =>
      inTransaction(db, async (trx) => {
        if (!(await isNewBatch(trx, 'sessions', batchNumber))) return;
        const rows = rowsOf(batch);
        if (rows.length > 0) await trx.raw(insert, [jsonText(rows)]);
        const ends = batch.ends.map(({ session, endedAt, bytesUp, bytesDown }) => [
          endedAt,
          bytesUp,
          bytesDown,
          session,
        ]);
        if (ends.length > 0) await trx.raw(end, [jsonText(ends)]);
      }),

    async cutOff(node, at, resumed) {
      const span = db.raw(spanOf(`${Math.trunc(at)} - started_at`));
      const open = db('session_records').where({ node, ended_at: null });
      const text = isShared ? 'jsonb_array_elements_text(?::jsonb)' : 'json_each(?)';
      open.whereRaw(`session not in (select value from ${text})`, [JSON.stringify(resumed)]);
      await open.update({ ended_at: at, span });
    },

    async search(question, place, limit) {
      const query = running(question, (each) => {
        each.whereNotNull('account_id').whereNot('host', OTHER_DESTINATIONS);
        matchDestination(each, question.destination);
        if (question.port !== null) each.where('port', question.port);
        matchOutgoing(each, question.outgoing);
        if (place === null) return;
        each.where((after) => {
          after.where('started_at', '<', place.startedAt);
          after.orWhere((same) => void same.where('started_at', place.startedAt).where('id', '<', place.id));
        });
      });
      const newest = query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit);
      return (await find<Stored>(newest)).map(toRecord);
    },

    async unmatched({ destination, port, ...question }) {
      const query = running(question, (each) => {
        each.where((any) => {
          any.whereNull('account_id').orWhere('host', OTHER_DESTINATIONS);
          if (typeof destination === 'string' || destination === null) return;
          any.orWhere((unknown) => {
            unknown.where('address', '');
            if (port !== null) unknown.where('port', port);
          });
        });
      });
      const kind = `case when account_id is null then 'dropped'
        when host = '${OTHER_DESTINATIONS}' then 'otherDestinations' else 'unknownAddresses' end`;
      const count = 'sum(case when account_id is null then bytes_up else 1 end)';
      const rows = query.select({ kind: reads.raw(kind), count: reads.raw(count) }).groupBy('kind');
      const counts = (await rows) as { kind: keyof Unmatched; count: number }[];
      const none = { dropped: 0, otherDestinations: 0, unknownAddresses: 0 };
      return { ...none, ...Object.fromEntries(counts.map((each) => [each.kind, Number(each.count)])) };
    },

    async ofEntries(entries) {
      const bound = reads.raw(ofEntries, [jsonText(entries.map(boundEntry))]);
      const rows = reads(bound).leftJoin('session_records', 'id', 'found').orderBy('place');
      const found = await find<Stored | { readonly id: null }>(rows.select('session_records.*'));
      return found.map((row) => (row.id === null ? undefined : toRecord(row)));
    },

    async oldest() {
      const starts = await Promise.all(
        [...SPANS, RUNNING].map((_, span) =>
          reads('session_records').where({ span }).min({ at: 'started_at' }).first(),
        ),
      );
      const known = starts.flatMap((row) => row?.['at'] ?? []);
      return known.length === 0 ? null : Math.min(...known);
    },

    async trim(before, limit) {
      let removed = 0;
      for (let span = 0; span <= RUNNING && removed < limit; span += 1) {
        const old = db('session_records').where({ span }).where('started_at', '<', before);
        // What runs stays; a node that is no more has left its records open.
        if (span === RUNNING) old.whereNotIn('node', db('nodes').select('name'));
        else old.where('ended_at', '<', before);
        old.orderBy('started_at').limit(limit - removed);
        removed += await deleteFound(db, 'session_records', old);
      }
      return removed;
    },
  };
}

function rowsOf({ records, gap }: RecordBatch): (string | number | null)[][] {
  // Few addresses occur in many records.
  const known = new Map<string, string>();
  const sortableOf = (address: string): string => getOrAdd(known, address, sortableAddress);
  const rows = records.map((record) => {
    const { startedAt, endedAt, outgoing, port, bytesUp, bytesDown, connectMs, host, address } = record;
    const { accountId, username, session, node, client, exit, protocol } = record;
    const asked = host === address ? '' : host;
    // biome-ignore format: one line a kind of column
    return [
      startedAt, endedAt, outgoing.port, port, bytesUp, bytesDown, connectMs,
      accountId, username, session, node, client,
      sortableOf(outgoing.address), exit, asked, sortableOf(address), protocol,
    ];
  });
  if (gap === null) return rows;
  const numbers = [gap.from, gap.to, 0, 0, gap.count, null, null];
  return [...rows, [...numbers, null, '', '', gap.node, '', '', null, '', '', '']];
}

/** Session, host, address, port, place, latest start, earliest end, and the earliest start in each class. Null: none is found. */
function boundEntry(entry: SessionEntry, place: number): (string | number | null)[] {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/s.exec(entry.destination) ?? [];
  const openedAt = timeOfId(entry.sessionId);
  const earliestEnd = entry.at - ENTRY_DELAY_MS;
  return [
    entry.sessionId,
    host,
    sortableAddress(host),
    Number(port),
    place,
    // A destination of an association has its record from its first datagram on.
    entry.protocol === 'udp' ? entry.at : openedAt,
    earliestEnd,
    ...SPANS.map((longest) => openedAt && Math.max(openedAt, earliestEnd - longest)),
  ];
}

function matchDestination(query: Knex.QueryBuilder, destination: TraceQuestion['destination']): void {
  if (typeof destination === 'string') query.where('host', destination);
  else if (destination !== null) query.whereBetween('address', [...destination]);
}

/** An unknown end matches every question. */
function matchOutgoing(query: Knex.QueryBuilder, { address, port }: TraceQuestion['outgoing']): void {
  if (port !== null) query.whereIn('outgoing_port', [port, 0]);
  if (address === null) return;
  const asked = sortableAddress(address);
  const isIn = ([first, last]: AddressRange): boolean => asked >= first && asked <= last;
  query.where((any) => {
    any.whereIn('outgoing', [asked, '']);
    if (!TRANSLATED.some(isIn)) for (const range of TRANSLATED) any.orWhereBetween('outgoing', [...range]);
  });
}

function toRecord({ span: _, outgoing, outgoingPort: port, host, ...stored }: Stored): Found {
  const address = addressOf(stored.address);
  return {
    ...stored,
    outgoing: { address: addressOf(outgoing), port },
    host: host === '' ? address : host,
    address,
  };
}
