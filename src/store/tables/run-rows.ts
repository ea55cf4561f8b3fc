// The rows of runs, and of their idempotency keys, which are written in the transaction of their run.
import type { Knex } from 'knex';
import type { Idempotency, RunToStore, StoredRun } from '../../core/agents/run-store.js';
import type { NewRun, Run } from '../../core/agents/runs.js';
import type { RequestKey } from '../../core/audit/audit.js';
import { fromRow, toRow } from '../sql.js';

/** A row of a run; the columns that core does not know are among them. */
export interface RunRow {
  id: string;
  session: string | null;
  owner: string | null;
}

/** All columns except the long texts, and those that only the store uses. */
export const SHORT_COLUMNS =
  `id kind agent session origin rerun_of status attempt accepted_at started_at finished_at
  error delivery delivery_tries next_delivery_at`.split(/\s+/);

export function toRun(row: object): Run {
  const { owner: _, excused, cancelRequestedAt, ...run } = fromRow<Run & Record<Hidden, unknown>>(row);
  return run;
}

/** The columns that only the store uses. */
type Hidden = 'owner' | 'excused' | 'cancelRequestedAt';

export const newRow = (run: NewRun, node: string | null) =>
  toRow({ ...run, owner: node, status: 'queued', attempt: 0, delivery: 'none', deliveryTries: 0 });

interface KeyRow {
  key: string;
  digest: string;
  answer: string;
  expires_at: number;
}

/** A run to store, with its id. */
export interface NumberedRun extends RunToStore {
  readonly runId: string;
}

/** The outcome for a request with `digest` whose key is already stored. */
function known(row: Pick<KeyRow, 'digest' | 'answer'>, digest: string): StoredRun {
  if (row.digest !== digest) return { outcome: 'key-reused' };
  return { outcome: 'replayed', answer: row.answer };
}

/** Looks up one key; null when it is unknown or expired by `now`. */
export async function findKey(db: Knex, key: string, digest: string, now: number): Promise<StoredRun | null> {
  const row: KeyRow | undefined = await db('idempotency_keys')
    .where({ key })
    .where('expires_at', '>', now)
    .first();
  return row ? known(row, digest) : null;
}

/**
 * Acquires the keys of `items` for their runs, in order. Returns for each item `stored` when its run must be stored, otherwise the
 * outcome for a request whose key is already used.
 */
export async function acquireKeys(
  trx: Knex.Transaction,
  items: readonly NumberedRun[],
  now: number,
): Promise<StoredRun[]> {
  const stored = (runId: string): StoredRun => ({ outcome: 'stored', runId });
  const first = new Map<string, KeyRow>();
  for (const { idempotency, runId } of items) {
    if (idempotency && !first.has(idempotency.key)) first.set(idempotency.key, toKeyRow(idempotency, runId));
  }
  if (first.size === 0) return items.map(({ runId }) => stored(runId));

  const keys = [...first.keys()];
  await trx('idempotency_keys').whereIn('key', keys).where('expires_at', '<=', now).delete();
  const inserted: { key: string }[] = await trx('idempotency_keys')
    .insert([...first.values()])
    .onConflict('key')
    .ignore()
    .returning('key');
  const fresh = new Set(inserted.map(({ key }) => key));
  const rows: KeyRow[] = fresh.size === keys.length ? [] : await trx('idempotency_keys').whereIn('key', keys);
  const older = new Map(rows.map((row) => [row.key, row]));

  const used = new Set<string>();
  return items.map(({ idempotency, runId }) => {
    if (!idempotency) return stored(runId);
    const { key, digest } = idempotency;
    if (fresh.has(key) && !used.has(key)) {
      used.add(key);
      return stored(runId);
    }
    const row = older.get(key) ?? first.get(key);
    // Another process would have to insert and delete the key during this transaction, which is impossible.
    if (!row) throw new Error(`idempotency key ${key} is neither new nor known`);
    return known(row, digest);
  });
}

function toKeyRow({ key, digest, answer, expiresAt }: Idempotency, runId: string): KeyRow {
  return { key, digest, answer: answer(runId), expires_at: expiresAt };
}

/**
 * Stores what a request of /api/v1 keeps. Its key has a space, so it is none of a run. Waits for a transaction that stores the key, and
 * rejects when another request has it.
 */
export async function takeKey(db: Knex, request: RequestKey, answer: string, now: number): Promise<void> {
  const { id, key, digest, expiresAt } = request;
  const taken: unknown[] = await db('idempotency_keys')
    .insert({ key, digest, answer, expires_at: expiresAt })
    .onConflict('key')
    .merge()
    .whereRaw('(idempotency_keys.answer like ? or idempotency_keys.expires_at <= ?)', [`${id} %`, now])
    .returning('key');
  if (taken.length === 0) throw new Error('another request has the idempotency key');
}
