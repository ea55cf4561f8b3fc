// Maps that are filled as keys are asked for, maps with a list, a set or a number for each key, and objects without undefined values.

interface Fillable<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of `key`; one that `make` makes, and that the map then has, where there is none. */
export function getOrAdd<Key, Value extends object | string>(
  map: Fillable<Key, Value>,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}

/** The items by their keys, in their order. */
export function grouped<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) getOrAdd(groups, keyOf(item), () => []).push(item);
  return groups;
}

/** Adds to the number of `key`, which is 0 when there is none. Keeps no 0. */
export function addToCount<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** How often each item occurs, in the order of their first. */
export function countEach<Item>(items: Iterable<Item>): Map<Item, number> {
  const counts = new Map<Item, number>();
  for (const item of items) addToCount(counts, item, 1);
  return counts;
}

export function addToSet<Key, Item>(sets: Map<Key, Set<Item>>, key: Key, item: Item): void {
  getOrAdd(sets, key, () => new Set()).add(item);
}

/** Keeps no empty set. */
export function deleteFromSet<Key, Item>(sets: Map<Key, Set<Item>>, key: Key, item: Item): void {
  const items = sets.get(key);
  items?.delete(item);
  if (items?.size === 0) sets.delete(key);
}

/** Returns `from` without keys whose value is undefined: optional properties are absent rather than undefined. */
export function withoutUndefined<T extends object>(from: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as T;
}
