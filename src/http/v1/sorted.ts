// Lists that are sorted in memory, by the `sort` parameter of their query.
import { pageOfSorted, type SortValue } from '../../core/sorted-page.js';
import { sortedCursors } from './cursors.js';

export type SortKeys<Item> = Readonly<Record<string, (item: Item) => SortValue>>;

/** Returns one page of `items`, sorted by `sort` (a key; a leading minus means descending). */
export function pageSortedBy<Item>(
  items: readonly Item[],
  query: { readonly sort: string; readonly limit: number; readonly cursor?: string | undefined },
  keys: SortKeys<Item>,
  idOf: (item: Item) => string,
) {
  const { sort, limit, cursor } = query;
  const descending = sort.startsWith('-');
  const keyOf = keys[descending ? sort.slice(1) : sort] ?? (() => null);
  const after = sortedCursors.placeOf(cursor);
  const { next, ...page } = pageOfSorted(items, { limit, after, descending, valueOf: keyOf, idOf });
  return { ...page, nextCursor: sortedCursors.cursorOf(next) };
}
