// Updates many rows with different values in one statement.
import type { Knex } from 'knex';

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
