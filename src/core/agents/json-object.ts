// Parses a JSON object strictly: valid UTF-8, an object, no duplicate keys.

export type JsonObject = Readonly<Record<string, unknown>>;

export type JsonRefusal = 'not-utf8' | 'not-json' | 'not-an-object' | 'duplicate-key' | 'too-deep';

// Limits recursion over values.
const MAX_DEPTH = 64;

export type ReadJson =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly reason: JsonRefusal };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as one JSON object (RFC 8259). Refuses duplicate top-level keys: ambiguous which value applies. Keys such as
 * `__proto__` are plain keys: read the result with `field`.
 */
export function readJsonObject(bytes: Uint8Array): ReadJson {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, reason: 'not-utf8' };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'not-json' };
  }
  if (!isObject(value)) return { ok: false, reason: 'not-an-object' };
  const fault = structureFault(text);
  return fault ? { ok: false, reason: fault } : { ok: true, object: value };
}

/** The object's own field; undefined when it is missing or null. */
export function field(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** JSON text with sorted keys at every depth: equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the object in `text` (valid JSON) is nested too deep or has a duplicate top-level key; null: neither. */
function structureFault(text: string): 'duplicate-key' | 'too-deep' | null {
  const seen = new Set<string>();
  let depth = 0;
  // In valid JSON only strings and brackets matter.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/gs)) {
    if (token === '}' || token === ']') depth--;
    else if (token === '{' || token === '[') {
      if (++depth > MAX_DEPTH) return 'too-deep';
    } else if (depth === 1 && colon !== undefined) {
      const key: unknown = JSON.parse(token.slice(0, -colon.length));
      if (seen.has(String(key))) return 'duplicate-key';
      seen.add(String(key));
    }
  }
  return null;
}
