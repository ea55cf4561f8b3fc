// Templates that turn the JSON of a webhook's sender into a message: text with JSONPath (RFC 9535) in braces, read by json-p3.
// Only singular queries (names and indexes) are allowed, so that each takes as long as it is, whatever the sender's JSON.
import { compile, type JSONPathQuery, type JSONValue } from 'json-p3';

const PLACEHOLDER = /\{(\$[^{}]*)\}/g;
export const MAX_TEMPLATE_CHARS = 4_096;
export const MAX_PLACEHOLDERS = 32;

export type Filled =
  | { readonly ok: true; readonly message: string }
  | { readonly ok: false; readonly error: string };

/** The message that a template makes of an object, at most `maxBytes` of UTF-8; else why there is none. */
export type MessageTemplate = (object: Readonly<Record<string, unknown>>, maxBytes: number) => Filled;

/** @throws Error when a query cannot be read, or is not singular, or the template is too long */
export function compileMessageTemplate(text: string): MessageTemplate {
  if (text.length > MAX_TEMPLATE_CHARS) throw new Error(`longer than ${MAX_TEMPLATE_CHARS} characters`);
  const parts: (string | { readonly path: string; readonly query: JSONPathQuery })[] = [];
  let at = 0;
  for (const { 0: whole, 1: path = '', index } of text.matchAll(PLACEHOLDER)) {
    const query = compile(path);
    if (!query.singularQuery()) throw new Error(`${path} may find more than one value`);
    parts.push(text.slice(at, index), { path, query });
    at = index + whole.length;
  }
  parts.push(text.slice(at));
  if (parts.length > 2 * MAX_PLACEHOLDERS + 1) throw new Error(`more than ${MAX_PLACEHOLDERS} queries`);
  return (object, maxBytes) => {
    let message = '';
    for (const part of parts) {
      if (typeof part === 'string') {
        message += part;
        continue;
      }
      const [value] = part.query.query(object as JSONValue).values();
      if (value === undefined || value === null)
        return { ok: false, error: `the body has nothing at ${part.path}` };
      message += typeof value === 'string' ? value : JSON.stringify(value);
      if (message.length > maxBytes) break;
    }
    if (Buffer.byteLength(message) > maxBytes)
      return { ok: false, error: `the message would be longer than ${maxBytes} bytes` };
    return { ok: true, message };
  };
}
