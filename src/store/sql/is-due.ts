// The condition of due attempts, of deliveries and notices.
import type { Knex } from 'knex';
import { NEVER_DUE_AHEAD_MS } from '../../core/agents/delivery-store.js';

/** Whether the time in `column` has come by `now`, or is one that was written before the clock was set back. */
export function isDue(column: string, now: number): (where: Knex.QueryBuilder) => void {
  return (where) => void where.where(column, '<=', now).orWhere(column, '>', now + NEVER_DUE_AHEAD_MS);
}
