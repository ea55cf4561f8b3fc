// The table of every list: rows of fixed height, of which the page contains only the visible ones; keyboard, sorting and selection.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { focusHeading, noteRow } from '../../lib/arrival.js';
import { t } from '../../lib/i18n.js';
import { showFiltered } from '../../lib/router.js';
import { Icon } from '../icons.js';
import { type Column, useShownColumns } from './columns.js';
import { scrollTo, useClientWidth, useWindow } from './table-window.js';

interface Selection {
  readonly ids: ReadonlySet<string>;
  change(ids: ReadonlySet<string>): void;
}

export interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly id: (row: T) => string;
  /** The accessible name of a row's checkbox. */
  readonly name?: (row: T) => string;
  /** Called when the user presses Enter on a row or clicks it. */
  readonly open?: (row: T) => void;
  readonly sort?: string;
  readonly selection?: Selection;
  readonly pending?: boolean;
  readonly rowHeight?: number;
  /** The height of a row of columns in their phone form; left out: two lines. */
  readonly phoneRowHeight?: number;
  /** Name under which the browser keeps the choice of columns; left out: the table offers no choice. */
  readonly table?: string;
}

const ROW_PX = 36;
const TWO_LINES_PX = 56;
const TICK_PX = 36;

export function Table<T>(props: TableProps<T>) {
  const { label, rows, columns, id, name, open, sort, selection, pending = false, table } = props;
  const { rowHeight: wideRowHeight = ROW_PX, phoneRowHeight = TWO_LINES_PX } = props;
  const holder = useRef<HTMLDivElement>(null);
  const widthPx = useClientWidth(holder);
  const selectable = selection !== undefined;
  const tickPx = selectable ? TICK_PX : 0;
  const { isPhone, shown, minPx } = useShownColumns(columns, table ?? '', widthPx - tickPx);
  const rowHeight = isPhone ? phoneRowHeight : wideRowHeight;
  const needed = minPx + tickPx;
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, last } = useWindow(body, rows.length, rowHeight);
  const [active, setActive] = useState(-1);
  const anchor = useRef(-1);
  const span = shown.length + (selectable ? 1 : 0);
  // Tab enters the table at the row used last, or at the nearest row that is drawn.
  const tabStop = Math.min(Math.max(active, first), last - 1);

  // When the row with the focus is removed (a session ended, a plan was deleted), the row in its place gets the focus.
  const focused = useRef<{ readonly element: Element; readonly rowId: string } | null>(null);
  useLayoutEffect(() => {
    const was = focused.current;
    if (was === null || was.element.isConnected || rows.some((row) => id(row) === was.rowId)) return;
    focused.current = null;
    if (document.activeElement === document.body)
      body.current?.querySelector<HTMLElement>(`[data-row="${tabStop}"]`)?.focus({ preventScroll: true });
  });

  // Without rows the page shows no table: the heading gets the focus of the last row.
  useLayoutEffect(
    () => () => {
      if (body.current?.contains(document.activeElement)) focusHeading();
    },
    [],
  );

  const focusRow = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    scrollTo(body.current, next, rowHeight);
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus());
  };
  const openRow = (row: T) => {
    noteRow(id(row));
    open?.(row);
  };
  const toggle = (index: number, range: boolean) => {
    if (!selection) return;
    const ids = new Set(selection.ids);
    const row = rows[index];
    if (row === undefined) return;
    const add = !ids.has(id(row));
    const start = range && anchor.current >= 0 ? Math.min(anchor.current, index) : index;
    const end = range && anchor.current >= 0 ? Math.max(anchor.current, index) : index;
    for (const one of rows.slice(start, end + 1)) add ? ids.add(id(one)) : ids.delete(id(one));
    anchor.current = index;
    selection.change(ids);
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const row = rows[index];
    const isTick = (event.target as Element).matches('input[type=checkbox]');
    if (
      (event.target !== event.currentTarget && !(isTick && /^(j|k|Arrow.*)$/.test(event.key))) ||
      row === undefined ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) focusRow(index + step);
    else if (event.key === 'Enter' && open) openRow(row);
    else if ((event.key === ' ' || event.key === 'x') && selectable) toggle(index, event.shiftKey);
    else return;
    event.preventDefault();
  };

  const allChosen =
    rows.length > 0 && selection !== undefined && rows.every((row) => selection.ids.has(id(row)));
  return (
    <div
      ref={holder}
      class={`table-box${needed > widthPx ? ' overflows' : ''}`}
      data-table={table}
      {...(needed > widthPx ? { tabIndex: 0, role: 'group', 'aria-label': label } : {})}
    >
      <table
        class={`table${pending ? ' pending' : ''}`}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-busy={pending}
        style={needed > widthPx ? { minWidth: `${needed}px` } : {}}
      >
        <colgroup>
          {selectable && <col style={{ width: `${TICK_PX}px` }} />}
          {shown.map((column) => (
            <col key={column.key} style={column.width ? { width: `${column.width}px` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="tick">
                <input
                  type="checkbox"
                  aria-label={t('list.selectPage')}
                  checked={allChosen}
                  onChange={() => selection.change(allChosen ? new Set() : new Set(rows.map(id)))}
                />
              </th>
            )}
            {shown.map((column) => (
              <Head key={column.key} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} onPointerOver={showWhole}>
          {first > 0 && <Spacer span={span} height={first * rowHeight} />}
          {rows.slice(first, last).map((row, offset) => {
            const index = first + offset;
            const key = id(row);
            const chosen = selection?.ids.has(key) ?? false;
            return (
              <tr
                key={key}
                data-row={index}
                data-id={key}
                aria-rowindex={index + 2}
                aria-selected={selectable ? chosen : undefined}
                tabIndex={index === tabStop ? 0 : -1}
                class={open ? 'opens' : ''}
                style={{ height: `${rowHeight}px` }}
                onFocusCapture={(event) => {
                  focused.current = { element: event.target as Element, rowId: key };
                  if (open) noteRow(key);
                  setActive(index);
                }}
                onKeyDown={(event) => onKey(event, index)}
                onClick={(event) => {
                  if (
                    open &&
                    !(event.target as Element).closest('a,button,input,label,dialog,details') &&
                    String(getSelection()) === ''
                  )
                    openRow(row);
                }}
              >
                {selectable && (
                  <td class="tick">
                    <input
                      type="checkbox"
                      checked={chosen}
                      aria-label={t('list.select', { name: name?.(row) ?? key })}
                      onClick={(event) => toggle(index, event.shiftKey)}
                    />
                  </td>
                )}
                {shown.map((column) => (
                  <td key={column.key} class={column.align ?? ''} data-column={column.key}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {last < rows.length && <Spacer span={span} height={(rows.length - last) * rowHeight} />}
        </tbody>
      </table>
    </div>
  );
}

/** Sets the whole text of a cut-off cell as its hover text. */
function showWhole(event: PointerEvent): void {
  const box = (event.target as Element).closest('td');
  if (!box) return;
  const cut = [box, ...box.querySelectorAll<HTMLElement>('*')].some(
    (one) => one.scrollWidth > one.clientWidth + 1,
  );
  if (cut && !box.querySelector('[title]')) box.title = box.textContent ?? '';
  else box.removeAttribute('title');
}

function Spacer({ span, height }: { span: number; height: number }) {
  return (
    <tr aria-hidden="true" class="spacer">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  );
}

function Head<T>({ column, sort }: { column: Column<T>; sort: string | undefined }) {
  if (!column.sort) {
    return (
      <th scope="col" class={column.align ?? ''} data-column={column.key}>
        {column.head}
      </th>
    );
  }
  const name = column.sort.replace('-', '');
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const next = direction === 'none' ? column.sort : direction === 'ascending' ? `-${name}` : name;
  return (
    <th scope="col" class={column.align ?? ''} aria-sort={direction} data-column={column.key}>
      <button type="button" onClick={() => showFiltered({ sort: next })}>
        {column.head}
        {direction !== 'none' && <Icon name={direction === 'ascending' ? 'up' : 'down'} size={12} />}
      </button>
    </th>
  );
}
