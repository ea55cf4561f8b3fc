// The runs table as the queue uses it: store, claim, finish, hand over.
import type { Knex } from 'knex';
import {
  type RunFilter,
  type RunStore,
  type RunToStore,
  SHOWN_CHARACTERS,
} from '../core/agents/run-ports.js';
import type { Run } from '../core/agents/runs.js';
import { appendToSession, readHistory } from './agent-sessions.js';
import { findKey, takeKeys } from './idempotency.js';
import { containing } from './like.js';
import { newRow, type RunRow, SHORT_COLUMNS, toRun } from './run-rows.js';
import { createRunnerStore } from './runners.js';

/** 18 bound values each, well under every engine's limit. */
const ROWS_PER_STATEMENT = 200;

export function createRunStore(db: Knex): RunStore {
  const get = async (id: string, on: Knex = db): Promise<Run | null> => {
    const row: RunRow | undefined = await on('runs').where({ id }).first();
    return row ? toRun(row) : null;
  };

  return {
    ...createRunnerStore(db),

    add: (items, now) =>
      db.transaction(async (trx) => {
        const outcomes = await takeKeys(trx, items, now);
        await insertAll(
          trx,
          items.filter((_, i) => outcomes[i]?.outcome === 'stored'),
        );
        return outcomes;
      }),

    findAnswer: (key, digest, now) => findKey(db, key, digest, now),
    get: (id) => get(id),

    async list(filter) {
      const rows: RunRow[] = await selected(db, filter);
      return rows.map(toRun);
    },

    async countQueued() {
      const rows: { agent: string; n: number | string }[] = await db('runs')
        .where({ status: 'queued' })
        .whereNull('finished_at')
        .groupBy('agent')
        .select('agent')
        .count({ n: '*' });
      return new Map(rows.map(({ agent, n }) => [agent, Number(n)]));
    },

    async lastActive(agent) {
      const row: RunRow | undefined = await db('runs').where({ agent }).orderBy('id', 'desc').first();
      return row ? Math.max(Number(row.accepted_at), Number(row.finished_at ?? 0)) : null;
    },

    claim: (id, owner, now) =>
      db.transaction(async (trx) => {
        const changed = await trx('runs')
          .where({ id, owner, status: 'queued' })
          .whereNotExists(
            trx('runs as earlier')
              .whereNull('earlier.finished_at')
              .whereRaw('earlier.session = runs.session and earlier.id < runs.id')
              .select(trx.raw('1')),
          )
          .update({ status: 'running', attempt: trx.raw('attempt + 1'), started_at: now });
        if (changed === 0) return { outcome: (await holds(trx, id, owner)) ? 'blocked' : 'gone' };
        const run = await get(id, trx);
        if (!run) throw new Error(`run ${id} is claimed but not there`);
        const history = run.session === null ? [] : await readHistory(trx, run.session);
        return { outcome: 'claimed', run, history };
      }),

    finish: (id, owner, end, limits) =>
      db.transaction(async (trx) => {
        const run = await get(id, trx);
        const changed = await trx('runs')
          .where({ id, owner, status: 'running' })
          .update({
            status: end.status,
            finished_at: end.finishedAt,
            reply: end.reply,
            error: end.error,
            ...deliveryOf(end.deliver, end.finishedAt),
          });
        if (changed === 0 || !run) return false;
        if (run.kind === 'message' && run.session !== null && end.status === 'succeeded') {
          await appendToSession(trx, run, end.reply ?? '', end.finishedAt, limits);
        }
        return true;
      }),

    cancelQueued: (id, now, deliver) =>
      db.transaction(async (trx) => {
        const changed = await trx('runs')
          .where({ id, status: 'queued' })
          .update({ status: 'cancelled', finished_at: now, ...deliveryOf(deliver, now) });
        return changed === 0 ? null : get(id, trx);
      }),

    trim: (before, now, limit) =>
      db.transaction(async (trx) => {
        await trx('idempotency_keys').where('expires_at', '<=', now).delete();
        const ids: string[] = await trx('runs')
          .where('finished_at', '<', before)
          .whereNull('next_delivery_at')
          .orderBy('finished_at')
          .limit(limit)
          .pluck('id');
        await trx('runs').whereIn('id', ids).delete();
        return ids.length === limit;
      }),
  };
}

async function insertAll(trx: Knex.Transaction, items: readonly RunToStore[]): Promise<void> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    await trx('runs').insert(items.slice(start, start + ROWS_PER_STATEMENT).map(newRow));
  }
}

function selected(db: Knex, filter: RunFilter): Knex.QueryBuilder {
  const { agent, session, status, search, before, limit } = filter;
  const query = db('runs')
    .select(SHORT_COLUMNS)
    .select(db.raw('substr(message, 1, ?) as message', [SHOWN_CHARACTERS]))
    .select(db.raw('substr(reply, 1, ?) as reply', [SHOWN_CHARACTERS]))
    .orderBy('id', 'desc')
    .limit(limit);
  if (agent !== undefined) query.where({ agent });
  if (session !== undefined) query.where({ session });
  if (status !== undefined) query.where({ status });
  if (before !== undefined) query.where('id', '<', before);
  if (search !== undefined) {
    query.where((either) =>
      either.where(containing(db, 'message', search)).orWhere(containing(db, 'reply', search)),
    );
  }
  return query;
}

function deliveryOf(deliver: boolean, now: number): Partial<RunRow> {
  return deliver ? { delivery: 'pending', next_delivery_at: now } : { delivery: 'none', owner: null };
}

/** Whether the run still waits and is the owner's. */
async function holds(trx: Knex.Transaction, id: string, owner: string): Promise<boolean> {
  const row: unknown = await trx('runs').where({ id, owner, status: 'queued' }).first('id');
  return row !== undefined;
}
