// Where the reader is: path and query live behind the `#`, so every view has an address and the server needs to know none.
import { cell, useCell } from './cell.js';
import { hasUnsaved, leave } from './unsaved.js';

export interface Place {
  /** `['accounts', '<id>']`; empty for the overview. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const place = cell<Place>(read());
/** The address of what is shown; the browser's differs from it while the reader is asked whether to leave. */
let shown = location.hash;
/** Which entry of this tab's history is shown: tells back from forward. */
let position = positionOf() ?? number(0);
/** The reader has agreed to go there. */
let agreed: string | null = null;
window.addEventListener('hashchange', arrive);
// Another entry of the history that shows the same.
window.addEventListener('popstate', () => {
  if (location.hash === shown) position = positionOf() ?? position;
});

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function positionOf(): number | null {
  const state = history.state as { position?: unknown } | null;
  return typeof state?.position === 'number' ? state.position : null;
}

/** Numbers the present entry of the history. */
function number(at: number): number {
  history.replaceState({ position: at }, '');
  return at;
}

/** Shows what the address says. While something is unsaved the address goes back to what is shown, and the reader is asked. */
function arrive(): void {
  const target = location.hash;
  const at = positionOf() ?? number(position + 1);
  if (target === shown || target === agreed || !hasUnsaved()) {
    agreed = null;
    position = at;
    if (target !== shown) show();
    return;
  }
  const steps = at - position;
  if (steps === 0) history.replaceState({ position }, '', shown);
  else history.go(-steps);
  leave(() => {
    agreed = target;
    if (steps < 0) history.go(steps);
    else location.hash = target;
  });
}

function show(): void {
  shown = location.hash;
  place.set(read());
}

export type QueryPatch = Readonly<Record<string, string | null>>;

/** The address of a view inside the console. */
export function href(path: readonly string[], query: QueryPatch = {}): string {
  return `#/${path.map(encodeURIComponent).join('/')}${queryText(new URLSearchParams(), query)}`;
}

/** Asks first when something unsaved would be lost. */
export function go(path: readonly string[], query: QueryPatch = {}): void {
  location.hash = href(path, query);
}

/**
 * Changes parts of the query and stays on the page; null removes one. Typing replaces the entry in the browser's
 * history, choosing adds one.
 */
export function patchQuery(patch: QueryPatch, how: 'push' | 'replace' = 'replace'): void {
  const { path, query } = place.get();
  const next = `#/${path.map(encodeURIComponent).join('/')}${queryText(query, patch)}`;
  if (next === location.hash) return;
  if (how === 'push') {
    position += 1;
    history.pushState({ position }, '', next);
  } else history.replaceState({ position }, '', next);
  show();
}

function queryText(base: URLSearchParams, patch: QueryPatch): string {
  const query = new URLSearchParams(base);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export function usePlace(): Place {
  return useCell(place);
}
