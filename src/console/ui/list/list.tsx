// The frame of every list: search, filters and counts, the table, and the pager.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../lib/i18n.js';
import type { Loaded } from '../../lib/load.js';
import { noteNext, patchQuery, showFiltered, stepOf, trailOf, usePlace } from '../../lib/router.js';
import { Button } from '../basics.js';
import type { DialogOf } from '../dialog.js';
import { Word } from '../form.js';
import { Icon } from '../icons.js';
import { PageHead } from '../page.js';
import { WhenLoaded } from '../states.js';
import { notify } from '../toast.js';
import { ColumnChooser } from './columns.js';
import { Table, type TableProps } from './table.js';

/** One page of a list, as the API answers it. */
interface Page<Row> {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
  /** Left out: the daemon does not count the list. */
  readonly matched?: number;
  readonly total?: number;
}

export interface ListProps<P extends Page<unknown>> {
  readonly list: Pick<Loaded<P>, 'data' | 'error' | 'reload' | 'pending'>;
  /** What the search box asks for; left out: no search. */
  readonly search?: string;
  readonly chips?: ComponentChildren;
  /** Further filters and buttons of the toolbar. */
  readonly tools?: ComponentChildren;
  /** What stands between toolbar and table: actions on the selection, their failure. */
  readonly children?: ComponentChildren;
  readonly empty: ComponentChildren | ((page: P) => ComponentChildren);
  readonly table: RowsOf<P['items'][number]>;
  /** Left out: true. A page may show the counts elsewhere. */
  readonly hasCounts?: boolean;
  readonly foot?: ComponentChildren;
  /** The toolbar, for a page that watches whether it is in sight. */
  readonly toolbar?: RefObject<HTMLDivElement | null>;
}

/** A table, or a function for a list that is no table. */
type RowsOf<Row> = Omit<TableProps<Row>, 'rows' | 'pending'> | ((rows: readonly Row[]) => ComponentChildren);

/** A list with its toolbar. The address holds search, filters and page. */
export function List<P extends Page<unknown>>(props: ListProps<P>) {
  const { list, search, chips, tools, children, table, toolbar, hasCounts = true } = props;
  return (
    <>
      <div class="toolbar" ref={toolbar ?? null}>
        {search !== undefined && <SearchBox placeholder={search} />}
        {chips && (
          <fieldset class="chips" aria-label={t('list.filters')}>
            {chips}
          </fieldset>
        )}
        {tools}
        {hasCounts && list.data && <Counts {...list.data} />}
        {'table' in table && <ColumnChooser table={table.table ?? ''} columns={table.columns} />}
      </div>
      {children}
      <WhenLoaded of={list} rows={12}>
        {(page) => <Paged {...props} page={page} />}
      </WhenLoaded>
    </>
  );
}

/** The rows of a page and the way to the others, or why there are none. */
function Paged<P extends Page<unknown>>(props: ListProps<P> & { readonly page: P }) {
  const { page, list, empty, table, foot } = props;
  const items: readonly P['items'][number][] = page.items;
  if ((page.matched ?? items.length) === 0) return <>{typeof empty === 'function' ? empty(page) : empty}</>;
  return (
    <>
      {typeof table === 'function' ? table(items) : <Table {...table} rows={items} pending={list.pending} />}
      <div class="row wrap list-foot">
        {foot}
        <Pager page={page} />
      </div>
    </>
  );
}

interface ShortListProps<Row, D> {
  /** Of a list that is a whole page: its heading. */
  readonly title?: string;
  readonly of: Pick<Loaded<D>, 'data' | 'error' | 'reload'>;
  readonly rowsOf: (data: D) => readonly Row[];
  readonly text: string;
  readonly add: string;
  readonly empty: ComponentChildren;
  /** `edit` opens the dialog of a row. */
  readonly table: (edit: (row: Row) => void) => Omit<TableProps<Row>, 'rows'>;
  /** Of a row, or of a new one: null. */
  readonly dialog: (props: DialogOf<Row | null>) => ComponentChildren;
}

/** A list without pages, to which one adds: what it is, the button, the rows, and the dialog of a new row and of each. */
export function ShortList<Row, D>(props: ShortListProps<Row, D>) {
  const { title, of, rowsOf, text, add, empty, table, dialog } = props;
  const [open, setOpen] = useState<{ readonly row: Row | null } | null>(null);
  const onClose = () => setOpen(null);
  const onDone = () => {
    onClose();
    notify(t('settings.saved'));
    of.reload();
  };
  return (
    <>
      {title && <PageHead title={title} />}
      <div class="row wrap">
        <p class="soft grow">
          {text} <Word of={[add]} />
        </p>
        <Button kind="primary" icon="plus" onClick={() => setOpen({ row: null })}>
          {add}
        </Button>
      </div>
      <WhenLoaded of={of} rows={4} keeps>
        {(data) =>
          rowsOf(data).length === 0 ? (
            empty
          ) : (
            <Table {...table((row) => setOpen({ row }))} rows={rowsOf(data)} />
          )
        }
      </WhenLoaded>
      {open && dialog({ of: open.row, onClose, onDone })}
    </>
  );
}

/** Edits the address's `search` parameter while the user types. `/` focuses the box. */
function SearchBox({ placeholder }: { placeholder: string }) {
  const { query } = usePlace();
  const inQuery = query.get('search') ?? '';
  const [text, setText] = useState(inQuery);
  const written = useRef(inQuery);
  useEffect(() => {
    if (inQuery !== written.current) {
      written.current = inQuery;
      setText(inQuery);
    }
  }, [inQuery]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const write = (value: string, afterMs: number) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = value.trim();
      patchQuery({ search: value.trim(), cursor: null, back: null });
    }, afterMs);
  };
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        data-search
        value={text}
        placeholder={placeholder}
        aria-label={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => write(event.currentTarget.value, 200)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          if (text === '') event.currentTarget.blur();
          else write('', 0);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}

interface ChipProps {
  /** Name of the query parameter. */
  readonly name: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

interface FilterChipsProps<Value extends string> {
  readonly name: string;
  readonly values: readonly Value[];
  readonly text: (value: Value) => string;
}

export function FilterChips<Value extends string>({ name, values, text }: FilterChipsProps<Value>) {
  return values.map((value) => (
    <FilterChip key={value} name={name} value={value}>
      {text(value)}
    </FilterChip>
  ));
}

/** A filter that a link set. Renders nothing without it. @param text left out: the value */
export function SetFilter({ name, text }: { readonly name: string; readonly text?: string }) {
  const value = usePlace().query.get(name);
  if (value === null) return null;
  return (
    <FilterChip name={name} value={value}>
      {text ?? value} ×
    </FilterChip>
  );
}

/** A filter that is on or off. The address holds its state. */
export function FilterChip({ name, value, children }: ChipProps) {
  const { query } = usePlace();
  const on = query.get(name) === value;
  return (
    <Button kind="chip" pressed={on} onClick={() => showFiltered({ [name]: on ? null : value })}>
      {children}
    </Button>
  );
}

/** "37 of 10,214": the number of matches and the total. */
export function Counts({ matched, total }: Pick<Page<unknown>, 'matched' | 'total'>) {
  if (matched === undefined || total === undefined) return null;
  return (
    <span class="counts number" role="status">
      {matched === total ? t('list.all', { n: total }) : t('list.some', { n: matched, total })}
    </span>
  );
}

function Pager({ page: { nextCursor, items, matched } }: { page: Page<unknown> }) {
  const shown = items.length;
  const place = usePlace();
  const { query } = place;
  const before = Number(query.get('back') ?? 0);
  if (nextCursor === null && !query.has('cursor')) return null;
  const trail = trailOf(place);
  const step = stepOf(place);
  const size = step > 0 ? before / step : shown;
  const goTo = (to: number) =>
    patchQuery({ cursor: trail[to] || null, back: to > 0 ? String(to * size) : null }, 'push');
  const goNext = () => {
    if (nextCursor === null) return;
    noteNext(place, nextCursor);
    patchQuery({ cursor: nextCursor, back: String(before + shown) }, 'push');
  };
  // Offers the visited pages that are near the current page.
  const seen = trail.map((_, i) => i).filter((i) => Math.abs(i - step) <= 2 || i === 0);
  const pages = matched === undefined || size === 0 ? null : Math.max(step + 1, Math.ceil(matched / size));
  return (
    <nav class="pager" aria-label={t('list.pages')}>
      <span class="soft number">
        {matched === undefined
          ? t('list.rangeOpen', { from: before + 1, to: before + shown })
          : t('list.range', { from: before + 1, to: before + shown, n: matched })}
      </span>
      {step < 0 && <Button onClick={() => goTo(0)}>{t('list.first')}</Button>}
      <Button disabled={step < 1} onClick={() => goTo(step - 1)}>
        {t('list.previous')}
      </Button>
      {step >= 0 &&
        seen.map((i) => (
          <button
            key={i}
            type="button"
            class="button page-number"
            aria-current={i === step ? 'page' : undefined}
            aria-label={t('list.page', { n: i + 1 })}
            onClick={() => i !== step && goTo(i)}
          >
            {i + 1}
          </button>
        ))}
      {pages !== null && step >= 0 && <span class="soft number">{t('list.ofPages', { n: pages })}</span>}
      <Button disabled={nextCursor === null} onClick={goNext}>
        {t('list.next')}
      </Button>
    </nav>
  );
}
