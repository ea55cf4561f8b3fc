// Lists the keys that differ between two configurations.
import { isPlainObject, Quantity, Secret } from './units.js';

/** Sorted paths such as `['socks.port', 'agents.reporter.timeout']`. A list counts as one value, and so does an added or removed group. */
export function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (isPlainObject(before) && isPlainObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) =>
      changedKeys(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return JSON.stringify(normalize(before)) === JSON.stringify(normalize(after)) ? [] : [path];
}

/** Makes equal values compare equal: `60s` and `1m`, keys in another order, secrets by their text. */
function normalize(value: unknown): unknown {
  if (value instanceof Quantity) return value.value;
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(normalize);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, normalize(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
