// The router. Path and query follow the `#`, so every view has an address and the server does not see it.
import { cell, useCell } from './cell.js';
import { hasUnsaved, leave } from './draft.js';

interface Place {
  /** `['accounts', '<id>']`; empty for the overview. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Former addresses of pages, which bookmarks and sent links have, and where these pages are. */
const MOVED: Readonly<Record<string, string>> = {
  'settings/plans': 'plans',
  'settings/operators': 'operators',
  'settings/notices': 'notices',
  'settings/reminders': 'notices/settings',
  'settings/audit': 'audit',
};

const place = cell<Place>(read());
/** The address of the shown view. The browser's address differs while the console asks the reader whether to leave. */
let shown = location.hash;
/** The position of the shown entry in this tab's history. It tells back from forward. */
let position = positionOf() ?? storePosition(0);
/** The address that the reader agreed to open. */
let agreed: string | null = null;
window.addEventListener('hashchange', onAddressChange);
// Moving to another history entry with the same address only updates the position.
window.addEventListener('popstate', () => {
  if (location.hash === shown) position = positionOf() ?? position;
});

function read(): Place {
  const [asked = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const path = MOVED[asked] ?? asked;
  if (path !== asked) history.replaceState(history.state, '', `#/${path}${query && `?${query}`}`);
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

function storePosition(at: number): number {
  history.replaceState({ position: at }, '');
  return at;
}

/** Shows the view of the address. While something is unsaved, restores the shown address and asks the reader. */
function onAddressChange(): void {
  const target = location.hash;
  const at = positionOf() ?? storePosition(position + 1);
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
  const next = read();
  shown = location.hash;
  place.set(next);
}

export type QueryPatch = Readonly<Record<string, string | null>>;

export function href(path: readonly string[], query: QueryPatch = {}): string {
  return `#/${path.map(encodeURIComponent).join('/')}${queryText(new URLSearchParams(), query)}`;
}

export function go(path: readonly string[], query: QueryPatch = {}): void {
  location.hash = href(path, query);
}

/**
 * Changes parts of the query and stays on the page; null removes a part. `replace` is for typing, `push` for a choice: it adds a
 * history entry.
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

/** Chooses what a list shows: from its first page on, and with a history entry. */
export const showFiltered = (patch: QueryPatch): void =>
  patchQuery({ ...patch, cursor: null, back: null }, 'push');

function queryText(base: URLSearchParams, patch: QueryPatch): string {
  const query = new URLSearchParams(base);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** Returns these parts of the query; undefined for one that there is not. */
export function partsOf<Name extends string>(
  query: URLSearchParams,
  ...names: readonly Name[]
): Record<Name, string | undefined> {
  const parts = names.map((name) => [name, query.get(name) ?? undefined]);
  return Object.fromEntries(parts) as Record<Name, string | undefined>;
}

export const placeNow = (): Place => place.get();

export function usePlace(): Place {
  return useCell(place);
}

// The visited pages of a list. A cursor only leads forward, so these are kept for the way back.
const FIRST = '';
const storedAs = ({ path, query }: Place): string => {
  const rest = new URLSearchParams(query);
  for (const name of ['cursor', 'back', 'new']) rest.delete(name);
  return `pulsegate.trail.${path.join('/')}?${rest}`;
};

/**
 * Returns the cursors of the visited pages of the list that `place` shows, first page first. The tab's session storage keeps them.
 */
export function trailOf(place: Place): readonly string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storedAs(place)) ?? '[]') as string[];
    return kept.length > 0 ? kept : [FIRST];
  } catch {
    return [FIRST];
  }
}

/** Returns the index of the shown page in the trail, from 0; -1 for a page opened by a link. */
export function stepOf(place: Place): number {
  return trailOf(place).indexOf(place.query.get('cursor') ?? FIRST);
}

/** Stores the cursor of the page after the shown one. */
export function noteNext(place: Place, cursor: string): void {
  const step = stepOf(place);
  if (step < 0) return;
  sessionStorage.setItem(storedAs(place), JSON.stringify([...trailOf(place).slice(0, step + 1), cursor]));
}
