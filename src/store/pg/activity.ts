// The account_activity table, with which nodes publish the activity of accounts to each other. Read by snapshots, like the change log
// (changes.ts): each row once, in any order of commits.
import type { Knex } from 'knex';
import type { DatabaseSnapshot } from '../../core/accounts/usage/limits.js';
import type { AccountActivity, ActivityFeed, ActivityRead } from '../../core/accounts/usage/traffic-store.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import type { ActivityRow, RecordActivity } from '../database.js';
import { oneAtATime } from '../follow-changes.js';
import { createUnseenReader, PG_NOW_MS } from './changes.js';

const KEPT_MS = 10 * MINUTE_MS;
/** Less than KEPT_MS, because rows get their time before their transaction ends. */
const SAFE_MS = 8 * MINUTE_MS;

const COLUMNS = 'account_id, kind, day, bytes_up, bytes_down, login_at';

type Row = Required<Omit<ActivityRow, 'kind'>> & { seq: number; transaction: string; kind: string };

/** @param origin GUID of this process: its own activity is not read back */
export function createPgActivityRecorder(origin: string): RecordActivity {
  return async (trx, rows) => {
    if (rows.length === 0) return;
    await trx.raw(
      `insert into account_activity (origin, at, ${COLUMNS})
       select ?, ${PG_NOW_MS}, ${COLUMNS}
       from jsonb_to_recordset(?::jsonb)
         as row(account_id text, kind text, day int, bytes_up bigint, bytes_down bigint, login_at bigint)`,
      [origin, JSON.stringify(rows)],
    );
  };
}

/** Creates a feed of the activity from now on. Rejects when the database cannot be read. */
export async function createPgActivityFeed(db: Knex, origin: string): Promise<ActivityFeed> {
  const readRows = await createUnseenReader<Row>(db, {
    table: 'account_activity',
    columns: `xact::text as transaction, ${COLUMNS}`,
    safeMs: SAFE_MS,
  });

  async function next(): Promise<ActivityRead> {
    const { rows, snapshot, hasMissed } = await readRows(origin);
    return { activity: rows.flatMap(toActivity), upTo: parse(snapshot).xmin, hasMissed };
  }

  return {
    next: oneAtATime(next),
    async trim() {
      await db('account_activity')
        .where('at', '<', db.raw(`${PG_NOW_MS} - ${KEPT_MS}`))
        .delete();
    },
  };
}

function toActivity(row: Row): AccountActivity[] {
  const { account_id: accountId } = row;
  if (row.kind === 'heartbeats') return [{ kind: 'heartbeats', accountId }];
  if (row.kind === 'login') return [{ kind: 'login', accountId, at: row.login_at }];
  if (row.kind !== 'traffic') return [];
  return [
    {
      kind: 'traffic',
      accountId,
      transaction: BigInt(row.transaction),
      day: row.day,
      bytesUp: row.bytes_up,
      bytesDown: row.bytes_down,
    },
  ];
}

/** `xmin:xmax:running,running`: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT-PARTS */
function parse(snapshot: string): { xmin: bigint; xmax: bigint; running: ReadonlySet<bigint> } {
  const [xmin = '0', xmax = '0', running = ''] = snapshot.split(':');
  const list = running.split(',').filter(Boolean);
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), running: new Set(list.map(BigInt)) };
}

/** @param snapshot the text of a `pg_snapshot` */
export function parseSnapshot(snapshot: string): DatabaseSnapshot {
  const { xmin, xmax, running } = parse(snapshot);
  return {
    includes: (transaction) => transaction < xmin || (transaction < xmax && !running.has(transaction)),
    isBefore: (transaction) => xmax <= transaction,
  };
}
