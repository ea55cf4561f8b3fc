// One page of a list in memory: sorted, after a place that stays valid when the list changes.

export type SortValue = string | number | null;

export interface Page<T> {
  readonly items: readonly T[];
  readonly matched: number;
  /** The place of the last item; null: no page follows. */
  readonly next: SortedPlace | null;
}

/** The place of an item in a sorted list: its sort value, and its id, which orders equal values. */
export interface SortedPlace {
  readonly value: SortValue;
  readonly id: string;
}

export interface PageWish<T> {
  readonly limit: number;
  /** null: the page begins with the first item. */
  readonly after: SortedPlace | null;
  /** The sort value; null sorts last in both directions. */
  readonly valueOf: (item: T) => SortValue;
  readonly descending: boolean;
  /** Unique id; orders equal values, always ascending. */
  readonly idOf: (item: T) => string;
}

export function pageOfSorted<T>(items: readonly T[], wish: PageWish<T>): Page<T> {
  const { limit, after, descending } = wish;
  const order = descending ? -1 : 1;
  const compare = (a: SortedPlace, b: SortedPlace): number =>
    compareValues(a.value, b.value, order) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const following: (SortedPlace & { readonly item: T })[] = [];
  for (const item of items) {
    const place = { item, value: wish.valueOf(item), id: wish.idOf(item) };
    if (after === null || compare(place, after) > 0) following.push(place);
  }
  // One more item than the page shows whether another page follows.
  const found = smallest(following, limit + 1, compare);
  const taken = found.slice(0, limit);
  const last = taken.at(-1);
  return {
    items: taken.map(({ item }) => item),
    matched: items.length,
    next: found.length > taken.length && last ? { value: last.value, id: last.id } : null,
  };
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
