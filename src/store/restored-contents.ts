// The parts of a backup that are restored only on request: API tokens and unfinished runs. Console sessions are never restored.
import type { Knex } from 'knex';
import { countOf } from './sql.js';

/** The numbers of these parts in a backup. */
export type RestoredContents = Awaited<ReturnType<typeof countRestored>>;

/** The parts to keep. */
export interface Keep {
  readonly tokens: boolean;
  readonly runs: boolean;
}

/** The error of a dropped run. */
const DROPPED_RUN = 'the database was restored from a backup';

/** Counts the parts in a backup, also of an older version. */
export async function countRestored(db: Knex) {
  return {
    consoleSessions: await count(db, 'console_sessions'),
    tokens: await count(db, 'api_tokens'),
    /** Runs that are not finished, and replies that are not delivered. */
    runs: await count(db, 'runs', isOpen),
  };
}

/** Removes the parts that are not kept. @param db a copy of the backup, which no other process uses */
export async function dropRestored(db: Knex, keep: Keep, now: number): Promise<void> {
  // Deleted values must not stay in free pages of the file.
  await db.raw('pragma secure_delete = on');
  await db.transaction(async (trx) => {
    if (await trx.schema.hasTable('console_sessions')) await trx('console_sessions').delete();
    if (!keep.tokens && (await trx.schema.hasTable('api_tokens'))) await trx('api_tokens').delete();
    if (await trx.schema.hasTable('runs')) await (keep.runs ? queueAgain(trx) : dropRuns(trx, now));
  });
}

/** Queues unfinished runs without an owner, because their owners were daemons at the time of the backup. */
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
  // A backup of an older version may not have the table.
  if (!(await db.schema.hasTable(table))) return 0;
  return countOf(db(table).where(filter));
}
