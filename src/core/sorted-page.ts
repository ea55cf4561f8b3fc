// One page of a list in memory: filtered, sorted, after a cursor that stays valid when the list changes.

export type SortValue = string | number | null;

export interface Page<T> {
  readonly items: readonly T[];
  readonly matched: number;
  readonly nextCursor: string | null;
}

export interface PageWish<T> {
  readonly limit: number;
  readonly cursor: string | undefined;
  /** The sort value; null sorts last in both directions. */
  readonly valueOf: (item: T) => SortValue;
  readonly descending: boolean;
  /** Unique id; orders equal values, always ascending. */
  readonly idOf: (item: T) => string;
}

/** Null when the cursor does not belong to this list. */
export function pageOfSorted<T>(items: readonly T[], wish: PageWish<T>): Page<T> | null {
  const after = wish.cursor === undefined ? null : readCursor(wish.cursor);
  if (after === 'malformed') return null;
  const order = wish.descending ? -1 : 1;
  const compare = (a: Keyed, b: Keyed): number =>
    compareValues(a.value, b.value, order) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  // One more item than the page shows whether another page follows.
  const found = smallest(
    keyed(items, wish, (each) => after === null || compare(each, after) > 0),
    wish.limit + 1,
    compare,
  );
  const taken = found.slice(0, wish.limit);
  const last = taken.at(-1);
  return {
    items: taken.map(({ item }) => item),
    matched: items.length,
    nextCursor: found.length > taken.length && last ? writeCursor(last) : null,
  };
}

function* keyed<T>(
  items: readonly T[],
  wish: Pick<PageWish<T>, 'valueOf' | 'idOf'>,
  isWanted: (each: Keyed) => boolean,
): Generator<Keyed & { readonly item: T }> {
  for (const item of items) {
    const each = { item, value: wish.valueOf(item), id: wish.idOf(item) };
    if (isWanted(each)) yield each;
  }
}

/** The `count` smallest items in order, without sorting the whole list. */
function smallest<K>(all: Iterable<K>, count: number, compare: (a: K, b: K) => number): K[] {
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

interface Keyed {
  readonly value: SortValue;
  readonly id: string;
}

function compareValues(a: SortValue, b: SortValue, order: number): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return (a < b ? -1 : 1) * order;
}

function writeCursor({ value, id }: Keyed): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

function readCursor(cursor: string): Keyed | 'malformed' {
  try {
    const [value, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const isValue = value === null || typeof value === 'string' || typeof value === 'number';
    return isValue && typeof id === 'string' ? { value, id } : 'malformed';
  } catch {
    return 'malformed';
  }
}
