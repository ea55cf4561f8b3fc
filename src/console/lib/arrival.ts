// Focus and scrolling after a change of page: the heading gets the focus, and a list returns to its last scroll position.
import { useEffect } from 'preact/hooks';

/** The scroll position of each address, in px. */
const places = new Map<string, number>();
/** The last address of each kind of page: `accounts` → `#/accounts?search=vip&cursor=…`. */
const lists = new Map<string, string>();
/** The row of each list that had the focus last, by the address of the list. */
const rows = new Map<string, string>();
/** How long `restoreScroll` and `focusRow` wait for a page to reach its former length, and to have its rows. */
const SETTLE_MS = 3_000;

const scroller = (): HTMLElement | null => document.querySelector('main');

/** Returns the last address of the list with its filters, or the unfiltered list when the reader has not opened it yet. */
export function listAddress(path: readonly string[]): string {
  return lists.get(path.join('/')) ?? `#/${path.join('/')}`;
}

/**
 * @param page path of the page that is shown
 * @param asked query of its address
 */
export function useArrival(page: string, asked: URLSearchParams): void {
  // `new` opens a dialog over the list. The list keeps its scroll position, so `new` is not part of the key.
  const query = [...asked].filter(([name]) => name !== 'new');
  const text = new URLSearchParams(query).toString();
  const address = `#/${page}${text === '' ? '' : `?${text}`}`;
  useEffect(() => {
    lists.set(page, address);
    const main = scroller();
    if (!main) return;
    const shownHash = location.hash;
    // A shorter new page makes the browser scroll before this effect is cleaned up. Such a scroll is not stored.
    const leaveAt = () => location.hash === shownHash && places.set(address, main.scrollTop);
    const stop = restoreScroll(main, places.get(address) ?? 0);
    main.addEventListener('scroll', leaveAt, { passive: true });
    return () => {
      stop();
      main.removeEventListener('scroll', leaveAt);
    };
  }, [page, address]);
  useEffect(() => {
    // Back from the page of a row: its row gets the focus again, as soon as it is drawn.
    const row = cameFrom.startsWith(`${page}/`) ? rows.get(location.hash) : undefined;
    cameFrom = page;
    const stopHeading = focusNewHeading();
    const stopRow = row === undefined ? undefined : focusRow(row);
    return () => {
      stopHeading?.();
      stopRow?.();
    };
  }, [page]);
}

let cameFrom = '';

/** Notes the row that has the focus, for the way back from its page. */
export function noteRow(id: string): void {
  rows.set(location.hash, id);
}

/** Calls `step` in every frame from the next one on, until it returns true or `ms` are over. Returns what stops it. */
export function inFrames(ms: number, step: () => boolean): () => void {
  const until = performance.now() + ms;
  const next = (): void => {
    if (!step() && performance.now() < until) frame = requestAnimationFrame(next);
  };
  let frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

/** Focuses the row, unless the reader has moved on from the heading meanwhile. */
const focusRow = (id: string): (() => void) =>
  inFrames(SETTLE_MS, () => {
    const row = document.querySelector<HTMLElement>(`main tr[data-id="${CSS.escape(id)}"]`);
    const isFree = document.activeElement?.matches('body, main, h1') === true;
    if (isFree) row?.focus({ preventScroll: true });
    return row !== null || !isFree;
  });

/** Scrolls to `top` as soon as the page is long enough. Stops when the reader scrolls. */
function restoreScroll(main: HTMLElement, top: number): () => void {
  const scroll = (): boolean => {
    main.scrollTop = top;
    return Math.abs(main.scrollTop - top) <= 1;
  };
  if (scroll()) return () => {};
  const stopFrames = inFrames(SETTLE_MS, scroll);
  const listening = new AbortController();
  const stop = (): void => {
    stopFrames();
    listening.abort();
  };
  for (const event of ['wheel', 'keydown', 'pointerdown'])
    main.addEventListener(event, stop, { signal: listening.signal, passive: true });
  return stop;
}

/** Focuses the heading, which takes no focus by itself. Returns whether the page has one. */
export function focusHeading(): boolean {
  const heading = document.querySelector<HTMLElement>('main h1');
  if (heading) heading.tabIndex = -1;
  heading?.focus({ preventScroll: true });
  return heading !== null;
}

export function focusHeadingWhenLost(): void {
  if (document.activeElement === document.body) focusHeading();
}

let isFirstPage = true;

/** The next page is not the first one: the sign-in page was. */
export function leaveFirstPage(): void {
  isFirstPage = false;
}

/** Focuses the heading of a new page: a screen reader announces the page, and the keyboard continues at the heading. */
function focusNewHeading(): (() => void) | undefined {
  // On the first load the browser's own focus order applies: the skip link comes first.
  if (isFirstPage) {
    isFirstPage = false;
    return undefined;
  }
  const main = scroller();
  if (!main) return undefined;
  const focus = (): boolean =>
    document.querySelector('dialog[open]') ? main.querySelector('h1') !== null : focusHeading();
  if (focus()) return undefined;
  const observer = new MutationObserver(() => focus() && observer.disconnect());
  observer.observe(main, { childList: true, subtree: true });
  return () => observer.disconnect();
}
