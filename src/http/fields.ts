// Named values of a request body or query: names are case-insensitive, and each may occur once.
import { quoted, type Refusal, refusal } from './answer.js';

/** By lower-case name. A Map, so that names such as `__proto__` are only names. */
export type Fields = ReadonlyMap<string, unknown>;

/** Rejects duplicate names, also in different cases: ambiguous which value applies. */
export function fieldsOf(
  entries: Iterable<readonly [string, unknown]>,
): { readonly ok: true; readonly fields: Fields } | Refusal {
  const fields = new Map<string, unknown>();
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (fields.has(key)) return refusal('malformed-request', `${quoted(name)} is given more than once`);
    fields.set(key, value);
  }
  return { ok: true, fields };
}

/** How a JSON value is named in an error detail: its type, never its content. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
