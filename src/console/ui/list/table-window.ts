// Geometry of a table in the scrolling page: its width, its visible rows, and scrolling to a row.
import { useLayoutEffect, useState } from 'preact/hooks';

/** Number of rows drawn above and below the visible ones. */
const OVERSCAN = 12;
/** Height of the sticky head, in px. */
const HEAD_PX = 36;

/** Returns the width of the element in px, and renders again when it changes. */
export function useClientWidth(holder: { current: HTMLElement | null }): number {
  const [widthPx, setWidthPx] = useState(innerWidth);
  useLayoutEffect(() => {
    const element = holder.current;
    if (!element) return;
    const measure = () => setWidthPx(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [holder]);
  return widthPx;
}

const scroller = () => document.querySelector<HTMLElement>('main');

/** Returns the range of rows to draw: the visible ones and `OVERSCAN` more at both ends. */
export function useWindow(body: { current: HTMLElement | null }, total: number, rowHeight: number) {
  const [range, setRange] = useState({ first: 0, last: Math.min(total, 60) });
  useLayoutEffect(() => {
    const view = scroller();
    if (!view) return;
    const measure = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const start = Math.floor((view.getBoundingClientRect().top - top) / rowHeight);
      const first = Math.max(0, Math.min(total, start - OVERSCAN));
      const last = Math.max(0, Math.min(total, start + Math.ceil(view.clientHeight / rowHeight) + OVERSCAN));
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    measure();
    view.addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      view.removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [body, total, rowHeight]);
  // A layout effect adds the listener before the rows are painted: a user who sees the rows may already press the key.
  useLayoutEffect(() => {
    const stop = (event: KeyboardEvent) => {
      const at = document.activeElement as HTMLElement;
      const isFree =
        event.key === 'ArrowDown'
          ? at === document.body || at.matches('[data-search], h1')
          : /^[jk]$/.test(event.key) &&
            !at.closest('tbody, dialog, select, textarea, input:not([type=checkbox])');
      if (!isFree || event.ctrlKey || event.metaKey || event.altKey) return;
      // Of several tables on a page, the first one answers.
      if (document.querySelector('.table tbody') !== body.current) return;
      event.preventDefault();
      body.current?.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus();
    };
    document.addEventListener('keydown', stop);
    return () => document.removeEventListener('keydown', stop);
  }, [body]);
  return {
    first: Math.min(range.first, total),
    last: Math.min(Math.max(range.last, Math.min(total, range.first + 1)), total),
  };
}

/** Scrolls so that the row is between the sticky head and the lower edge, or the bar of bulk actions. */
export function scrollTo(body: HTMLElement | null, index: number, rowHeight: number): void {
  const view = scroller();
  if (!view || !body) return;
  const top = body.getBoundingClientRect().top - view.getBoundingClientRect().top + index * rowHeight;
  if (top < HEAD_PX) view.scrollTop += top - HEAD_PX;
  // The bar of bulk actions floats over the lower edge.
  const bar = document.querySelector('.bulk-bar')?.getBoundingClientRect().top;
  const bottom = bar === undefined ? view.clientHeight : bar - view.getBoundingClientRect().top;
  if (top >= HEAD_PX && top + rowHeight > bottom) view.scrollTop += top + rowHeight - bottom;
}
