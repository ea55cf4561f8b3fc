// Where the reader is: path and query live behind the `#`, so every view has an address and the server needs to know none.
import { cell, useCell } from './cell.js';

export interface Place {
  /** `['accounts', '<id>']`; empty for the overview. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const place = cell<Place>(read());
window.addEventListener('hashchange', () => place.set(read()));

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

export type QueryPatch = Readonly<Record<string, string | null>>;

/** The address of a view inside the console. */
export function href(path: readonly string[], query: QueryPatch = {}): string {
  return `#/${path.map(encodeURIComponent).join('/')}${queryText(new URLSearchParams(), query)}`;
}

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
  if (how === 'push') history.pushState(null, '', next);
  else history.replaceState(null, '', next);
  place.set(read());
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
window.addEventListener('popstate', () => place.set(read()));
