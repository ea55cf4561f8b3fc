// The pages of all lists, also of those in memory, and their cursors: the only module that writes and reads them. To clients they are
// opaque.
import { z } from 'zod';
import { guidOf } from '../../core/ids.js';
import { parseJson } from '../../core/text.js';
import type { RecordPlace } from '../../core/trace/session-record.js';
import { Cursor, fault } from '../api/schemas.js';

const MAX_PAGE = 1_000;

/** @param read returns null for a text that `write` cannot have made */
const cursorsOf = <Place>(read: (text: string) => Place | null, write: (place: Place) => string) => ({
  /** `limit` and `cursor` of a list's query. A text that is no cursor of this kind is refused. */
  PageQuery: z.object({
    limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
    cursor: Cursor.refine((text) => read(text) !== null, fault('cursor')).optional(),
  }),
  /** Returns the place that a cursor of `PageQuery` names; null: the page begins with the first item. */
  placeOf: (cursor: string | undefined): Place | null => (cursor === undefined ? null : read(cursor)),
  /** Makes a page of `found`, which was read with `limit` + 1: the extra item tells whether another page follows. */
  page<Item>(found: readonly Item[], limit: number, placeOf: (last: Item) => Place) {
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, nextCursor: found.length > limit && last !== undefined ? write(placeOf(last)) : null };
  },
});

/** Lists by the number of a row or line. */
export const numberCursors = cursorsOf<number>((text) => {
  const place = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(place) ? place : null;
}, String);

/** Lists by an ordered GUID. */
export const idCursors = cursorsOf<string>(guidOf, (id) => id);

/** Conversations: by the time of the last use, then by key. */
export const conversationCursors = cursorsOf<{ readonly lastUsedAt: number; readonly key: string }>(
  (text) => {
    const [, at, key] = /^(\d{1,15})~(.+)$/.exec(text) ?? [];
    return at === undefined || key === undefined ? null : { lastUsedAt: Number(at), key };
  },
  ({ lastUsedAt, key }) => `${lastUsedAt}~${key}`,
);

/** Records of sessions: by their start, then by their number. */
export const recordCursors = cursorsOf<RecordPlace>(
  (text) => {
    const [, startedAt, id] = /^(\d{1,15})~(\d{1,15})$/.exec(text) ?? [];
    return startedAt === undefined ? null : { startedAt: Number(startedAt), id: Number(id) };
  },
  ({ startedAt, id }) => `${startedAt}~${id}`,
);

/** Lists in memory, which are sorted by any of their fields: the value of the last item, and its id. */
export const sortedCursors = cursorsOf<SortedPlace>(
  (text) => {
    const parsed = parseJson(Buffer.from(text, 'base64url').toString());
    const [value, id] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    const isValue = value === null || typeof value === 'string' || typeof value === 'number';
    return isValue && typeof id === 'string' ? { value, id } : null;
  },
  ({ value, id }) => Buffer.from(JSON.stringify([value, id])).toString('base64url'),
);

type SortValue = string | number | null;

export type SortKeys<Item, Deps> = Readonly<Record<string, (item: Item, deps: Deps) => SortValue>>;

/** The values of `sort`: a key; with a leading minus descending. */
export function sortBy<Name extends string>(keys: Readonly<Record<Name, unknown>>) {
  const names = Object.keys(keys) as [Name, ...Name[]];
  return z.enum([...names, ...names.map((name) => `-${name}` as const)]);
}

/** The place of an item in a sorted list: its sort value, and its id, which orders equal values. */
interface SortedPlace {
  readonly value: SortValue;
  readonly id: string;
}

/**
 * Returns one page of `items`, sorted by `sort` of `sortBy`, after a place that stays valid when the list changes. null sorts last in
 * both directions.
 * @param idOf unique; orders equal values, always ascending
 */
export function pageSortedBy<Item, Deps>(
  items: readonly Item[],
  query: { readonly sort: string; readonly limit: number; readonly cursor?: string | undefined },
  keys: SortKeys<Item, Deps>,
  deps: Deps,
  idOf: (item: Item) => string,
) {
  const { sort, limit, cursor } = query;
  const isDescending = sort.startsWith('-');
  const keyOf = keys[isDescending ? sort.slice(1) : sort] ?? (() => null);
  const order = isDescending ? -1 : 1;
  const compare = (a: SortedPlace, b: SortedPlace): number =>
    compareValues(a.value, b.value, order) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const after = sortedCursors.placeOf(cursor);
  const following: (SortedPlace & { readonly item: Item })[] = [];
  for (const item of items) {
    const place = { item, value: keyOf(item, deps), id: idOf(item) };
    if (after === null || compare(place, after) > 0) following.push(place);
  }
  const found = smallest(following, limit + 1, compare);
  const { items: taken, nextCursor } = sortedCursors.page(found, limit, (last) => last);
  return { items: taken.map(({ item }) => item), matched: items.length, nextCursor };
}

/** The `count` smallest items in order, without sorting the whole list. */
function smallest<K>(all: readonly K[], count: number, compare: (a: K, b: K) => number): K[] {
  const best: K[] = [];
  let bound: K | undefined;
  const prune = (): void => {
    best.sort(compare);
    best.length = Math.min(best.length, count);
    bound = best[count - 1];
  };
  for (const each of all) {
    if (bound !== undefined && compare(each, bound) >= 0) continue;
    best.push(each);
    if (best.length >= PRUNED_AT * count) prune();
  }
  prune();
  return best;
}

/** Sorting occasionally, at four times the result size, costs less than inserting every item in order. */
const PRUNED_AT = 4;

function compareValues(a: SortValue, b: SortValue, order: number): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return (a < b ? -1 : 1) * order;
}
