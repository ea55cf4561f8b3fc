// The head of every list: search, filters and counts. Also the pager.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { patchQuery, usePlace } from '../lib/router.js';
import { noteNext, stepOf, trailOf } from '../lib/trail.js';
import { Button } from './basics.js';
import { Icon } from './icons.js';

/** Edits the address's `search` parameter while the user types. `/` focuses the box. */
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
  /** Name of the query parameter. */
  readonly name: string;
  readonly value: string;
  readonly children: ComponentChildren;
}

/** A filter that is on or off. The address holds its state. */
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

/** "37 of 10,214": the number of matches and the total. */
export function Counts({ matched, total }: { matched: number; total: number }) {
  return (
    <span class="counts number" role="status">
      {matched === total ? t('list.all', { n: total }) : t('list.some', { n: matched, total })}
    </span>
  );
}

/** Moves between pages, and shows the number of the current page. */
export function Pager({
  nextCursor,
  shown,
  matched,
}: {
  nextCursor: string | null;
  shown: number;
  matched?: number;
}) {
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
