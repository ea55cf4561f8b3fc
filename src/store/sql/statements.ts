// Parts of statements that the tables share: writes of many rows, conditions.
import type { Knex } from 'knex';
import { NEVER_DUE_AHEAD_MS } from '../../core/agents/run-store.js';

/**
 * Sets the columns of `types` in each row of `table` whose `key` is in `rows`, to the values of that entry. PostgreSQL needs
 * the types: it cannot infer them from a null or a number. Pass a few hundred rows at most.
 */
export async function updateEach<Column extends string>(
  db: Knex,
  table: string,
  key: string,
  types: Readonly<Record<Column, 'text' | 'integer' | 'bigint'>>,
  rows: readonly {
    readonly key: string;
    readonly values: Readonly<Record<Column, string | number | null>>;
  }[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(types) as Column[];
  const names = columns.map(() => '??').join(', ');
  const values = columns.map((column) => `cast(? as ${types[column]})`).join(', ');
  const sets = columns.map(() => '?? = changed.??').join(', ');
  await db.raw(
    `with changed(row_key, ${names}) as (values ${rows.map(() => `(?, ${values})`).join(', ')})
     update ?? set ${sets} from changed where ?? = changed.row_key`,
    [
      ...columns,
      ...rows.flatMap((row) => [row.key, ...columns.map((column) => row.values[column])]),
      table,
      ...columns.flatMap((column) => [column, column]),
      `${table}.${key}`,
    ],
  );
}

/** For statements that take a bounded number of rows. */
export function* slices<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Whether the time in `column` has come by `now`, or is one that was written before the clock was set back. */
export function isDue(column: string, now: number): (where: Knex.QueryBuilder) => void {
  return (where) => void where.where(column, '<=', now).orWhere(column, '>', now + NEVER_DUE_AHEAD_MS);
}

/** The condition that `column`, which may be an expression, contains `text`. Ignores case as far as the database's `lower` does; `%` and `_` are literal. */
export function containing(db: Knex, column: string | Knex.Raw, text: string): Knex.Raw {
  const literal = text.replace(/[!%_]/g, '!$&');
  return db.raw("lower(??) like lower(?) escape '!'", [column, `%${literal}%`]);
}

/**
 * @param owner undefined: every account
 * @param column the column with the account's id
 */
export function ofOwner(
  db: Knex,
  query: Knex.QueryBuilder,
  column: string,
  owner: string | undefined,
): Knex.QueryBuilder {
  return owner === undefined ? query : query.whereIn(column, db('accounts').where({ owner }).select('id'));
}

/** @param range in ms since the epoch; `from` is inside, `to` is not; undefined: no bound */
export function inTimeRange(
  query: Knex.QueryBuilder,
  column: string,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): void {
  if (from !== undefined) query.where(column, '>=', from);
  if (to !== undefined) query.where(column, '<', to);
}
