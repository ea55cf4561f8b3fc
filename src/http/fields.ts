// Named values of a request: fields of body or query, which may occur once, and headers. Names are case-insensitive.
import type { IncomingMessage } from 'node:http';
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

/** Returns every value of `name` (lower case), in order. */
export function headerValues(req: IncomingMessage, name: string): string[] {
  const { rawHeaders } = req;
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i] ?? '';
    if (each.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}

/** Returns `from` without keys whose value is undefined: optional properties are absent rather than undefined. */
export function withoutUndefined<T extends object>(from: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as T;
}
