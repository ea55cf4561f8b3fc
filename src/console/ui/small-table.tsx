// A table of a few rows inside a card: no sorting, no selection.
import type { ComponentChildren } from 'preact';

interface SmallColumn<Row> {
  /** Left out in all columns: the table has no line of headings. */
  readonly head?: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  readonly look?: string;
  /** CSS classes of the cells only. */
  readonly cellLook?: string;
  /** Shows again, as a picture, what another column says. */
  readonly isPicture?: boolean;
}

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
      {columns.some(({ head }) => head) && (
        <thead>
          <tr>
            {columns.map(({ head, look: ofHead, isPicture }, i) => (
              <th key={i} scope="col" class={ofHead} aria-hidden={isPicture}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row, i) => (
          <tr key={id(row)} class={rowLook?.(row)}>
            {columns.map(({ cell, look: ofHead = '', cellLook = '', isPicture }, at) => (
              <td key={at} class={`${ofHead} ${cellLook}`.trim()} aria-hidden={isPicture}>
                {cell(row, i)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
