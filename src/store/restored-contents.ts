// The parts of a backup that become valid again only if the operator says so: sign-ins, revoked tokens, finished runs.
import type { Knex } from 'knex';

/** How many of them a backup holds. */
export interface RestoredContents {
  readonly consoleSessions: number;
  readonly tokens: number;
  /** Runs that are not finished, and replies that are not delivered. */
  readonly runs: number;
}

/** What to keep. Console sessions are never kept. */
export interface Keep {
  readonly tokens: boolean;
  readonly runs: boolean;
}

/** Why a run that is dropped did not succeed. */
const DROPPED_RUN = 'the database was restored from a backup';

export async function countRestored(db: Knex): Promise<RestoredContents> {
  return {
    consoleSessions: await count(db, 'console_sessions'),
    tokens: await count(db, 'api_tokens'),
    runs: await count(db, 'runs', isOpen),
  };
}

/** @param db a copy of the backup that nobody else has open */
export async function dropRestored(db: Knex, keep: Keep, now: number): Promise<void> {
  // Deleted values must not stay in free pages of the file.
  await db.raw('pragma secure_delete = on');
  await db.transaction(async (trx) => {
    if (await trx.schema.hasTable('console_sessions')) await trx('console_sessions').delete();
    if (!keep.tokens && (await trx.schema.hasTable('api_tokens'))) await trx('api_tokens').delete();
    if (await trx.schema.hasTable('runs')) await (keep.runs ? queueAgain(trx) : dropRuns(trx, now));
  });
}

/** Their owners are daemons of the time of the backup. */
async function queueAgain(trx: Knex): Promise<void> {
  await trx('runs').where({ status: 'running' }).whereNull('finished_at').update({ status: 'queued' });
  await trx('runs').whereNotNull('owner').update({ owner: null });
  await trx('runners').delete();
}

async function dropRuns(trx: Knex, now: number): Promise<void> {
  await queueAgain(trx);
  await trx('runs')
    .whereNull('finished_at')
    .update({ status: 'cancelled', finished_at: now, error: DROPPED_RUN });
  await trx('runs').whereNotNull('next_delivery_at').update({ delivery: 'none', next_delivery_at: null });
}

function isOpen(runs: Knex.QueryBuilder): void {
  runs.whereNull('finished_at').orWhereNotNull('next_delivery_at');
}

async function count(
  db: Knex,
  table: string,
  filter: (query: Knex.QueryBuilder) => void = () => {},
): Promise<number> {
  // A backup of an older version may not have it yet.
  if (!(await db.schema.hasTable(table))) return 0;
  const row = await db(table).where(filter).count({ n: '*' }).first();
  return Number(row?.['n'] ?? 0);
}
