// The head of every list: search, filters, counts; and the way to the next page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { patchQuery, usePlace } from '../lib/router.js';
import { Button } from './basics.js';
import { Icon } from './icons.js';

/** Text of the address's `search`, and a box that writes it there as one types. `/` focuses it. */
export function SearchBox({ placeholder }: { placeholder: string }) {
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
  /** Name in the query. */
  readonly name: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

/** A filter that is on or off; its state is in the address. */
export function FilterChip({ name, value, children }: ChipProps) {
  const { query } = usePlace();
  const on = query.get(name) === value;
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={on}
      onClick={() => patchQuery({ [name]: on ? null : value, cursor: null, back: null }, 'push')}
    >
      {children}
    </button>
  );
}

/** "37 of 10,214", and whether that is all of them. */
export function Counts({ matched, total }: { matched: number; total: number }) {
  return (
    <span class="counts number" role="status">
      {matched === total ? t('list.all', { n: total }) : t('list.some', { n: matched, total })}
    </span>
  );
}

/** Cursors only lead forward; the way back is the browser's, and "first page". */
export function Pager({
  nextCursor,
  shown,
  matched,
}: {
  nextCursor: string | null;
  shown: number;
  matched?: number;
}) {
  const { query } = usePlace();
  const before = Number(query.get('back') ?? 0);
  if (nextCursor === null && !query.has('cursor')) return null;
  return (
    <nav class="pager" aria-label={t('list.pages')}>
      <span class="soft number">
        {matched === undefined
          ? t('list.rangeOpen', { from: before + 1, to: before + shown })
          : t('list.range', { from: before + 1, to: before + shown, n: matched })}
      </span>
      <Button
        disabled={!query.has('cursor')}
        onClick={() => patchQuery({ cursor: null, back: null }, 'push')}
      >
        {t('list.first')}
      </Button>
      <Button
        disabled={nextCursor === null}
        onClick={() => patchQuery({ cursor: nextCursor, back: String(before + shown) }, 'push')}
      >
        {t('list.next')}
      </Button>
    </nav>
  );
}
