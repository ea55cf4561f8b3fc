// A table of a few rows inside a card: no sorting, no selection.
import type { ComponentChildren } from 'preact';

/**
 * A column. `head` '' in all columns: the table has no line of headings; null: the column shows again, as a picture, what another one
 * says. `look`: CSS classes of its cells.
 */
type SmallColumn<Row> = readonly [head: string | null, cell: (row: Row) => ComponentChildren, look?: string];

interface SmallTableProps<Row> {
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string | number;
  readonly columns: readonly SmallColumn<Row>[];
  readonly look?: string;
  readonly rowLook?: (row: Row) => string;
  readonly empty?: string;
}

export function SmallTable<Row>({ rows, id, columns, look = 'small', rowLook, empty }: SmallTableProps<Row>) {
  if (empty !== undefined && rows.length === 0) return <p class="soft">{empty}</p>;
  return (
    <table class={look}>
      {columns.some(([head]) => head) && (
        <thead>
          <tr>
            {columns.map(([head, , ofColumn], i) => (
              <th key={i} scope="col" class={ofColumn} aria-hidden={head === null || undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row) => (
          <tr key={id(row)} class={rowLook?.(row)}>
            {columns.map(([head, cell, ofColumn], i) => (
              <td key={i} class={ofColumn} aria-hidden={head === null || undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
