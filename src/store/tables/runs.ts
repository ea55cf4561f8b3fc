// The runs table: store, claim, finish and release runs.
import type { Knex } from 'knex';
import type { Claim, RunEnd, RunFilter, RunStore } from '../../core/agents/run-store.js';
import { SHOWN_CHARACTERS } from '../../core/agents/run-store.js';
import type { Run } from '../../core/agents/runs.js';
import { createOrderedIds } from '../../core/ids.js';
import type { StoreContext } from '../database.js';
import { containingIn, countOf, having, inTransaction, slices, updateEach } from '../sql.js';
import { appendToSessions, exchangeOf, readHistories } from './agent-sessions.js';
import type { NumberedRun, RunRow } from './run-rows.js';
import { acquireKeys, findKey, newRow, SHORT_COLUMNS, takeKey, toRun } from './run-rows.js';
import { createRunnerStore } from './runners.js';

export function createRunStore(context: StoreContext): RunStore {
  const { db, reads, scans, lock } = context;
  const nextId = createOrderedIds(context.now);
  const get = async (id: string, on: Knex = db): Promise<Run | null> => {
    const row: RunRow | undefined = await on('runs').where({ id }).first();
    return row ? toRun(row) : null;
  };

  return {
    ...createRunnerStore(context),

    add: (items, at) =>
      inTransaction(db, async (trx) => {
        await lock(trx, 'runs');
        const newest = await trx('runs').max({ id: 'id' }).first();
        const numbered = items.map((item) => ({ ...item, runId: nextId(newest?.id) }));
        const outcomes = await acquireKeys(trx, numbered, at);
        await insertAll(
          trx,
          numbered.filter((_, i) => outcomes[i]?.outcome === 'stored'),
        );
        return outcomes;
      }),

    findAnswer: (key, digest, now) => findKey(db, key, digest, now),
    countKeys: (prefix) => countOf(db('idempotency_keys').where('key', 'like', `${prefix}%`)),
    storeAnswer: (request, answer) => takeKey(db, request, answer, context.now()),
    get: (id) => get(id),

    async list(filter) {
      const rows: RunRow[] = await selected(filter.search === undefined ? reads : scans, filter);
      return rows.map(toRun);
    },

    async countQueued() {
      const rows: { agent: string; n: number }[] = await db('runs')
        .where({ status: 'queued' })
        .whereNull('finished_at')
        .groupBy('agent')
        .select('agent')
        .count({ n: '*' });
      return new Map(rows.map(({ agent, n }) => [agent, n]));
    },

    async lastActive(agent) {
      const row: object | undefined = await db('runs').where({ agent }).orderBy('id', 'desc').first();
      const run = row && toRun(row);
      return run ? Math.max(run.acceptedAt, run.finishedAt ?? 0) : null;
    },

    claim: (ids, node, now) =>
      inTransaction(db, async (trx) => {
        const queued = () => trx('runs').where({ owner: node, status: 'queued' });
        const rows: RunRow[] = await queued()
          .whereIn('id', ids)
          .whereNotExists(
            trx('runs as earlier')
              .whereNull('earlier.finished_at')
              .whereRaw('earlier.session = runs.session and earlier.id < runs.id')
              .select(trx.raw('1')),
          )
          .update({ status: 'running', attempt: trx.raw('attempt + 1'), started_at: now })
          .returning('*');
        const claimed = new Map(rows.map((row) => [row.id, toRun(row)]));
        const others = ids.filter((id) => !claimed.has(id));
        const blocked = new Set(others.length === 0 ? [] : await queued().whereIn('id', others).pluck('id'));
        const histories = await readHistories(
          trx,
          rows.flatMap(({ session }) => session ?? []),
        );
        return ids.map((id): Claim => {
          const run = claimed.get(id);
          if (!run) return { outcome: blocked.has(id) ? 'blocked' : 'gone' };
          claimed.delete(id);
          return { outcome: 'claimed', run, history: histories.get(run.session ?? '') ?? [] };
        });
      }),

    finish: (ended, node, limits) =>
      inTransaction(db, async (trx) => {
        const ids = ended.map(({ id }) => id);
        const rows: RunRow[] = await trx('runs').whereIn('id', ids).where({ owner: node, status: 'running' });
        const runs = new Map(rows.map((row) => [row.id, toRun(row)]));
        const own = ended.filter(({ id }) => runs.has(id));
        await updateEach(
          trx,
          'runs',
          'id',
          END_TYPES,
          own.map(({ id, end }) => ({ key: id, values: endOf(end, node) })),
        );
        const exchanges = own.flatMap(({ id, end }) => {
          const run = runs.get(id);
          return run && end.status === 'succeeded' ? exchangeOf(run, end.reply ?? '', end.finishedAt) : [];
        });
        await appendToSessions(trx, exchanges, limits);
        return ids.map((id) => runs.has(id));
      }),

    cancelQueued: (id, now, deliver) =>
      inTransaction(db, async (trx) => {
        const changed = await trx('runs')
          .where({ id, status: 'queued' })
          .update({ status: 'cancelled', finished_at: now, ...deliveryOf(deliver, now) });
        return changed === 0 ? null : get(id, trx);
      }),

    trim: (before, now, limit) =>
      inTransaction(db, async (trx) => {
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

async function insertAll(trx: Knex.Transaction, items: readonly NumberedRun[]): Promise<void> {
  const rows = items.map(({ run, node, runId }) => newRow({ ...run, id: runId }, node));
  for (const slice of slices(rows)) await trx('runs').insert(slice);
}

function selected(db: Knex, filter: RunFilter): Knex.QueryBuilder {
  const { agent, session, status, search, before, limit } = filter;
  const query = db('runs')
    .select(SHORT_COLUMNS)
    .select(db.raw('substr(message, 1, ?) as message', [SHOWN_CHARACTERS]))
    .select(db.raw('substr(reply, 1, ?) as reply', [SHOWN_CHARACTERS]))
    .orderBy('id', 'desc')
    .limit(limit);
  having(query, { agent, session, status });
  if (before !== undefined) query.where('id', '<', before);
  return search === undefined ? query : containingIn(db, query, ['message', 'reply'], search);
}

function deliveryOf(deliver: boolean, now: number) {
  return deliver ? { delivery: 'pending', next_delivery_at: now } : { delivery: 'none', owner: null };
}

const END_TYPES = {
  status: 'text',
  finished_at: 'bigint',
  reply: 'text',
  error: 'text',
  delivery: 'text',
  next_delivery_at: 'bigint',
  owner: 'text',
} as const;

function endOf(end: RunEnd, node: string) {
  const { status, finishedAt: finished_at, reply, error } = end;
  const delivery = { owner: node, next_delivery_at: null, ...deliveryOf(end.deliver, finished_at) };
  return { status, finished_at, reply, error, ...delivery };
}
