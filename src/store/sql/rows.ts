// Rows of tables and the objects of `core`: the field `createdAt` is in the column `created_at`. Every database returns integers as
// numbers.

const COLUMNS = new Map<string, string>();
const FIELDS = new Map<string, string>();

/** The field `isEnabled` is in the column `is_enabled`. */
export type ColumnOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : '';

/** The column of a field. */
export function columnOf<Name extends string>(field: Name): ColumnOf<Name> {
  let column = COLUMNS.get(field);
  if (column === undefined) {
    column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    COLUMNS.set(field, column);
  }
  return column as ColumnOf<Name>;
}

function fieldOf(column: string): string {
  const known = FIELDS.get(column);
  if (known !== undefined) return known;
  const field = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  FIELDS.set(column, field);
  return field;
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
