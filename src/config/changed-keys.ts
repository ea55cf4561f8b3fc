// Which keys differ between two configurations, as one would write their paths.
import { Secret } from './secret.js';
import { isPlainObject, Quantity } from './units.js';

/** `['socks.port', 'agents.reporter.timeout']`, sorted; a list is one value, a group that came or went one path. */
export function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (isPlainObject(before) && isPlainObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) =>
      changedKeys(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return JSON.stringify(bare(before)) === JSON.stringify(bare(after)) ? [] : [path];
}

/** Texts in another spelling (`60s`, `1m`) are the same value; two secrets are compared by what they are. */
function bare(value: unknown): unknown {
  if (value instanceof Quantity) return value.value;
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(bare);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, bare(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
