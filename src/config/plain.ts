// The configuration as plain data for output: quantities in their original spelling, secrets hidden.
import { Secret } from './secret.js';
import { isPlainObject, Quantity } from './units.js';

/** Plain data without secrets. */
export function toPlain(value: unknown): unknown {
  if (value instanceof Secret) return value.toJSON();
  if (value instanceof Quantity) return value.text;
  if (Array.isArray(value)) return value.map(toPlain);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}
