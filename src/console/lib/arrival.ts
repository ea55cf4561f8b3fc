// What happens when one comes to another page: its heading has the focus, and a list stands where it was left.
import { useEffect } from 'preact/hooks';

/** Where each address was scrolled to, in px. */
const places = new Map<string, number>();
/** The last address of each kind of page: `accounts` → `#/accounts?search=vip&cursor=…`. */
const lists = new Map<string, string>();
/** How long a page may take to become as long as it was. */
const SETTLE_MS = 3_000;

const scroller = (): HTMLElement | null => document.querySelector('main');

/** The list one came from, as it was filtered; else the list from its beginning. */
export function listAddress(path: readonly string[]): string {
  return lists.get(path.join('/')) ?? `#/${path.join('/')}`;
}

/**
 * @param page path of the page that is shown
 * @param asked the query of its address
 */
export function useArrival(page: string, asked: URLSearchParams): void {
  // A dialog over the list is part of its address, but it is the same place.
  const query = [...asked].filter(([name]) => name !== 'new');
  const text = new URLSearchParams(query).toString();
  const address = `#/${page}${text === '' ? '' : `?${text}`}`;
  useEffect(() => {
    lists.set(page, address);
    const main = scroller();
    if (!main) return;
    const shownHash = location.hash;
    // A page that is shorter than the one before moves by itself, before this has heard of it.
    const leaveAt = () => location.hash === shownHash && places.set(address, main.scrollTop);
    const stop = stand(main, places.get(address) ?? 0);
    main.addEventListener('scroll', leaveAt, { passive: true });
    return () => {
      stop();
      main.removeEventListener('scroll', leaveAt);
    };
  }, [page, address]);
  useEffect(() => focusHeading(), [page]);
}

/** Scrolls to `top` as soon as there is so much; gives up when the reader scrolls. */
function stand(main: HTMLElement, top: number): () => void {
  let frame = 0;
  const until = performance.now() + SETTLE_MS;
  const stop = (): void => cancelAnimationFrame(frame);
  const step = (): void => {
    main.scrollTop = top;
    if (Math.abs(main.scrollTop - top) > 1 && performance.now() < until) frame = requestAnimationFrame(step);
  };
  step();
  for (const event of ['wheel', 'keydown', 'pointerdown']) main.addEventListener(event, stop, { once: true });
  return stop;
}

let isFirstPage = true;

/** A screen reader says where one is; the keyboard goes on from there. */
function focusHeading(): (() => void) | undefined {
  // On loading the browser's own order holds: the link that leads to the content comes first.
  if (isFirstPage) {
    isFirstPage = false;
    return undefined;
  }
  const main = scroller();
  if (!main) return undefined;
  const focus = (): boolean => {
    const heading = main.querySelector<HTMLElement>('h1');
    if (!heading || document.querySelector('dialog[open]')) return heading !== null;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    return true;
  };
  if (focus()) return undefined;
  const observer = new MutationObserver(() => focus() && observer.disconnect());
  observer.observe(main, { childList: true, subtree: true });
  return () => observer.disconnect();
}
