// Parts of statements that the tables share: rows, writes of many, conditions, transactions.
import type { Knex } from 'knex';
import { NEVER_DUE_AHEAD_MS } from '../core/agents/run-store.js';
import { codeOf } from '../core/errors.js';
import { getOrAdd } from '../core/maps.js';

const COLUMNS = new Map<string, string>();
const FIELDS = new Map<string, string>();

/** The field `isEnabled` is in the column `is_enabled`. */
export type ColumnOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : '';

const toColumn = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const columnOf = <Name extends string>(field: Name): ColumnOf<Name> =>
  getOrAdd(COLUMNS, field, toColumn) as ColumnOf<Name>;

type FieldOf<Column extends string> = Column extends `${infer Start}_${infer Rest}`
  ? `${Start}${Capitalize<FieldOf<Rest>>}`
  : Column;

const toField = (column: string): string =>
  column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const fieldOf = <Column extends string>(column: Column): FieldOf<Column> =>
  getOrAdd(FIELDS, column, toField) as FieldOf<Column>;

/** Yields all rows of a table in the order of the key, in batches, so that memory use does not depend on the number of rows. */
export async function* batches<Row extends object = Readonly<Record<string, unknown>>>(
  db: Knex,
  { name, key, rowsAtOnce }: { name: string; key: readonly string[]; rowsAtOnce: number },
  columns: readonly string[] = ['*'],
): AsyncGenerator<Row[]> {
  const tuple = key.map(() => '??').join(', ');
  const values = key.map(() => '?').join(', ');
  for (let last: Row | undefined; ; ) {
    const query = db(name).select(columns).limit(rowsAtOnce);
    for (const column of key) query.orderBy(column);
    const at = last as Readonly<Record<string, Knex.Value>> | undefined;
    if (at)
      query.whereRaw(`(${tuple}) > (${values})`, [...key, ...key.map((column) => at[column] as Knex.Value)]);
    const rows: Row[] = await query;
    if (rows.length > 0) yield rows;
    if (rows.length < rowsAtOnce) return;
    last = rows.at(-1);
  }
}

/** The row with the fields of `object`, whose values must be those of columns. */
export function toRow(object: object): Record<string, string | number | boolean | null> {
  const row: Record<string, string | number | boolean | null> = {};
  for (const [field, value] of Object.entries(object)) row[columnOf(field)] = value;
  return row;
}

/** The object with the columns of a row. SQLite returns 0 and 1 where a column is a truth value: convert these. */
export function fromRow<T>(row: object): T {
  const object: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) object[fieldOf(column)] = value;
  return object as T;
}

/** JSON for a database, which may be PostgreSQL: its texts cannot contain NUL, so U+FFFD stands for it, as in other values. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(value, (_, each) =>
    typeof each === 'string' ? each.replaceAll('\0', '\uFFFD') : each,
  );
}

export async function find<T>(query: Knex.QueryBuilder): Promise<T[]> {
  const rows: object[] = await query;
  return rows.map((row) => fromRow<T>(row));
}

export async function countOf(query: Knex.QueryBuilder): Promise<number> {
  const [row]: { count: number }[] = await query.count({ count: '*' });
  return Number(row?.count ?? 0);
}

/** Deletes the rows that a query finds, as `id`s of the table. Returns their number. */
export async function deleteFound(db: Knex, table: string, query: Knex.QueryBuilder): Promise<number> {
  return db(table).whereIn('id', query.select('id')).delete();
}

/** For `merge` after `onConflict`: adds the new row's numbers in these columns to those of the old one. */
export function added(db: Knex, table: string, columns: readonly string[]): Record<string, Knex.Raw> {
  const sum = (column: string) => db.raw('?? + ??', [`${table}.${column}`, `excluded.${column}`]);
  return Object.fromEntries(columns.map((column) => [column, sum(column)]));
}

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

/** Rows in one statement: of at most thirty bound values each, they stay well below the limit of every database. */
const ROWS_PER_STATEMENT = 200;
export const IDS_PER_STATEMENT = 500;

/**
 * Runs a statement with one bound value, a JSON array: a bound value for each column of each row costs twice as much.
 * @param isShared as of Database
 * @returns the rows that it returns
 */
export async function runJson<Row>(
  db: Knex,
  isShared: boolean,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const answer: unknown = await db.raw(sql, [jsonText(values)]);
  return (isShared ? (answer as { rows: Row[] }).rows : answer) as Row[];
}

/** For `runJson`: SQL that inserts a few hundred rows with these columns. */
export function insertJson(isShared: boolean, table: string, columns: readonly string[]): string {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const into = `insert into ${table} (${names}) select`;
  if (isShared) return `${into} ${names} from jsonb_populate_recordset(null::${table}, ?::jsonb)`;
  const values = columns.map((column) => `value ->> '${column}'`).join(', ');
  // Materialized: SQLite would write each row as text again for each of its columns.
  return `with entry as materialized (select value from json_each(?)) ${into} ${values} from entry`;
}

/** For statements that take a bounded number of rows. */
export function* slices<T>(items: readonly T[], size = ROWS_PER_STATEMENT): Generator<T[]> {
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

/** Keeps the rows of which one of the columns contains `text`. */
export function containingIn(
  db: Knex,
  query: Knex.QueryBuilder,
  columns: readonly (string | Knex.Raw)[],
  text: string,
): Knex.QueryBuilder {
  return query.where((any) => {
    for (const column of columns) any.orWhere(containing(db, column, text));
  });
}

/** Keeps the rows whose columns have these values; undefined: any value. */
export function having(query: Knex.QueryBuilder, values: object): Knex.QueryBuilder {
  return query.where(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)));
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

/** `serialization_failure` and `deadlock_detected` of PostgreSQL. SQLite has one writer at a time, so neither occurs. */
const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 10;

/** Runs `work` in one transaction. Calls it again after such a rollback, so `work` must have no effect outside the transaction. */
export async function inTransaction<T>(db: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (!RETRYABLE.has(codeOf(error) ?? '') || tries === MAX_TRIES) throw error;
    }
  }
}

const PG_UNIQUE_VIOLATION = '23505';

/** Whether a statement failed because another row has a value that must be unique. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_CONSTRAINT' || code === PG_UNIQUE_VIOLATION;
}
