// Named values of a request body or query. Names are case-insensitive, and each may occur once.
import { quoted, type Refusal, refusal } from './answer.js';

/** By lower-case name. In a Map, names such as `__proto__` have no special meaning. */
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

/** Names the type of a JSON value in an error detail, and never its content. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
