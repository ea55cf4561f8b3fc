// One page of a list that is held in memory: filtered, sorted, cut after a cursor that survives changes of the list.

export type SortValue = string | number | null;

export interface Page<T> {
  readonly items: readonly T[];
  readonly matched: number;
  readonly nextCursor: string | null;
}

export interface PageWish<T> {
  readonly limit: number;
  readonly cursor: string | undefined;
  /** What is sorted by; null comes last either way. */
  readonly valueOf: (item: T) => SortValue;
  readonly descending: boolean;
  /** Unique, decides among equals, always upwards. */
  readonly idOf: (item: T) => string;
}

/** Null when the cursor is none of this list. */
export function pageOfSorted<T>(items: readonly T[], wish: PageWish<T>): Page<T> | null {
  const after = wish.cursor === undefined ? null : readCursor(wish.cursor);
  if (after === 'malformed') return null;
  const keyed = items.map((item) => ({ item, value: wish.valueOf(item), id: wish.idOf(item) }));
  const order = wish.descending ? -1 : 1;
  const compare = (a: Keyed, b: Keyed): number =>
    compareValues(a.value, b.value, order) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  keyed.sort(compare);
  const start = after === null ? 0 : firstAfter(keyed, (each) => compare(each, after) > 0);
  const taken = keyed.slice(start, start + wish.limit);
  const last = taken.at(-1);
  const hasMore = start + wish.limit < keyed.length;
  return {
    items: taken.map(({ item }) => item),
    matched: items.length,
    nextCursor: hasMore && last ? writeCursor(last) : null,
  };
}

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

/** The first index for which `isAfter` holds, by halving: the list is sorted. */
function firstAfter<T>(list: readonly T[], isAfter: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = list[middle];
    if (item !== undefined && isAfter(item)) high = middle;
    else low = middle + 1;
  }
  return low;
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
