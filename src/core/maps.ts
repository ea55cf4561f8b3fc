// Maps that are filled as keys are asked for, and maps with a list or a set for each key.

interface Fillable<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of `key`; one that `make` makes, and that the map then has, where there is none. */
export function getOrAdd<Key, Value extends object | string>(
  map: Fillable<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The items by their keys, in their order. */
export function grouped<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) getOrAdd(groups, keyOf(item), () => []).push(item);
  return groups;
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
