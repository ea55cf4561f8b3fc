// Which columns a table shows: the chosen ones, and as many of the others as fit.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Cell, cell, keepStored, readStored, useCell } from '../../lib/cell.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { Button, useWidth } from '../basics.js';
import { Checkbox } from '../form.js';
import { Icon } from '../icons.js';
import { Menu } from '../menu.js';

export interface Column<T> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Name of the column in the `sort` parameter, after `-` if the first press sorts by the largest value; left out: not sortable. */
  readonly sort?: string;
  /** In px; left out: the column shares the remaining width, and has at least `MIN_FLEXIBLE_PX`. */
  readonly width?: number | undefined;
  /** The columns with the smallest numbers are shown first, as far as they fit; left out: always shown. */
  readonly from?: number | undefined;
  readonly align?: 'end' | undefined;
  /** What differs on a phone. As soon as one column of a table has a phone form, only such columns are shown there. */
  readonly phone?: Partial<Pick<Column<T>, 'cell' | 'width' | 'from' | 'align'>> & {
    readonly isFirst?: boolean;
  };
}

/** A column, whose cells come last. @param head the key of its text; '': the column has no heading */
export const column = <T,>(
  key: string,
  head: TextKey | '',
  look: Omit<Column<T>, 'key' | 'head' | 'cell'>,
  cell: Column<T>['cell'],
): Column<T> => ({ key, head: head && t(head), ...look, cell });

/** A cell of several lines, of which the first counts: the form of a cell on a phone. */
export function Lines({ of, end = false }: { of: readonly ComponentChildren[]; end?: boolean }) {
  const [first, ...others] = of;
  return (
    <div class={end ? 'two-lines end' : 'two-lines'}>
      <div>{first}</div>
      {others.map((line) => line && <span class="soft">{line}</span>)}
    </div>
  );
}

function phoneColumns<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  const own = columns.filter(({ phone }) => phone);
  if (own.length === 0) return columns;
  return own
    .sort((a, b) => Number(b.phone?.isFirst ?? false) - Number(a.phone?.isFirst ?? false))
    .map((column) => ({ ...column, from: undefined, ...column.phone }));
}

/** A narrower window shows lists as a phone does. */
const WIDE_PX = 640;

/** The least width at which remarks and destinations stay readable; on a phone, the beginning of a name. */
const MIN_FLEXIBLE_PX = 160;
const MIN_FLEXIBLE_ON_PHONE_PX = 88;
const PHONE_PX = 480;

/** The columns that the table shows now, and the least width at which they stay readable. On a phone they have their phone form. */
export function useShownColumns<T>(columns: readonly Column<T>[], table: string, availablePx: number) {
  const isPhone = useIsPhone(columns);
  const choice = useCell(choiceOf(table));
  const shown = fittingColumns(isPhone ? phoneColumns(columns) : columns, choice, availablePx);
  const keys = shown.map((column) => column.key).join(' ');
  useEffect(() => drawnOf(table).set(keys), [table, keys]);
  return { isPhone, shown, minPx: minWidthOf(shown, availablePx) };
}

const useIsPhone = (columns: readonly Column<never>[]): boolean =>
  useWidth() < WIDE_PX && columns.some(({ phone }) => phone);

function minWidthOf(columns: readonly Pick<Column<never>, 'width'>[], availablePx: number): number {
  const flexible = availablePx < PHONE_PX ? MIN_FLEXIBLE_ON_PHONE_PX : MIN_FLEXIBLE_PX;
  return columns.reduce((sum, { width }) => sum + (width ?? flexible), 0);
}

/** By column key: true for a column the user added, false for one the user removed. Other columns appear when they fit. */
type ColumnChoice = Readonly<Record<string, boolean>>;

function fittingColumns<T>(
  columns: readonly Column<T>[],
  choice: ColumnChoice,
  availablePx: number,
): readonly Column<T>[] {
  const shown = new Set(columns.filter(({ key, from }) => from === undefined || choice[key] === true));
  const others = columns.filter((column) => !shown.has(column) && choice[column.key] !== false);
  for (const column of others.sort((a, b) => (a.from ?? 0) - (b.from ?? 0)))
    if (minWidthOf([...shown, column], availablePx) <= availablePx) shown.add(column);
  return columns.filter((column) => shown.has(column));
}

const storedAs = (table: string): string => `pulsegate.columns.${table}`;

function cellsBy<T>(first: (table: string) => T): (table: string) => Cell<T> {
  const cells = new Map<string, Cell<T>>();
  return (table) => {
    const known = cells.get(table) ?? cell(first(table));
    cells.set(table, known);
    return known;
  };
}

/** The user's choice for a table. This browser's local storage keeps it. */
const choiceOf = cellsBy((table) => readStored<ColumnChoice>(storedAs(table)));
/** The keys of the columns that a table shows now, separated by spaces. */
const drawnOf = cellsBy(() => '');

export function ColumnChooser<T>({ table, columns }: { table: string; columns: readonly Column<T>[] }) {
  const choice = useCell(choiceOf(table));
  const drawn = new Set(useCell(drawnOf(table)).split(' '));
  const isPhone = useIsPhone(columns);
  const optional = columns.filter((column) => column.from !== undefined && column.head !== '');
  if (optional.length === 0 || isPhone) return null;
  const change = (next: ColumnChoice) => {
    keepStored(storedAs(table), next);
    choiceOf(table).set(next);
  };
  return (
    <Menu
      look="chooser"
      summaryLook="button icon-only"
      label={t('columns.choose')}
      summary={<Icon name="columns" />}
    >
      <fieldset class="menu">
        <legend class="sr-only">{t('columns.choose')}</legend>
        {optional.map((column) => (
          <Checkbox
            key={column.key}
            checked={choice[column.key] ?? drawn.has(column.key)}
            onChange={(on) => change({ ...choice, [column.key]: on })}
          >
            {column.head}
          </Checkbox>
        ))}
        <Button kind="link" disabled={Object.keys(choice).length === 0} onClick={() => change({})}>
          {t('columns.automatic')}
        </Button>
      </fieldset>
    </Menu>
  );
}
