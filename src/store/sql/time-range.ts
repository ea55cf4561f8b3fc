// Restricts a query to a range of time.
import type { Knex } from 'knex';

/** @param range in ms since the epoch; `from` is inside, `to` is not; undefined: no bound */
export function inTimeRange(
  query: Knex.QueryBuilder,
  column: string,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): void {
  if (from !== undefined) query.where(column, '>=', from);
  if (to !== undefined) query.where(column, '<', to);
}
