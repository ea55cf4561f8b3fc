// A table of a few rows inside a card: no sorting, no selection.
import type { ComponentChildren } from 'preact';

interface SmallColumn<Row> {
  readonly head: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** CSS classes of the heading and the cells. */
  readonly look?: string;
  /** CSS classes of the cells only. */
  readonly cellLook?: string;
  /** Shows again, as a picture, what another column says. */
  readonly isPicture?: boolean;
}

interface SmallTableProps<Row> {
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
  readonly columns: readonly SmallColumn<Row>[];
  readonly look?: string;
}

export function SmallTable<Row>({ rows, id, columns, look = 'small' }: SmallTableProps<Row>) {
  return (
    <table class={look}>
      <thead>
        <tr>
          {columns.map(({ head, look: ofHead, isPicture }) => (
            <th key={head} scope="col" class={ofHead} aria-hidden={isPicture}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={id(row)}>
            {columns.map(({ head, cell, look: ofHead = '', cellLook = '', isPicture }) => (
              <td key={head} class={`${ofHead} ${cellLook}`.trim()} aria-hidden={isPicture}>
                {cell(row, i)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
