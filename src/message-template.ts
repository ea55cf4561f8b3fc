// Message templates, which convert the JSON of a webhook sender into a message: text with JSONPath (RFC 9535) in braces, evaluated
// by json-p3. Only singular queries (names and indexes) are allowed, so that the time of a query does not depend on the JSON.
import { compile, type JSONPathQuery, type JSONValue } from 'json-p3';

const PLACEHOLDER = /\{(\$[^{}]*)\}/g;
export const MAX_TEMPLATE_CHARS = 4_096;
export const MAX_PLACEHOLDERS = 32;

export type Filled =
  | { readonly ok: true; readonly message: string }
  | { readonly ok: false; readonly error: string };

/** Fills the template with values of an object. Fails when a value is missing, or the message is longer than `maxBytes` of UTF-8. */
export type MessageTemplate = (object: Readonly<Record<string, unknown>>, maxBytes: number) => Filled;

/** @throws Error when a query is invalid or not singular, or the template is too long */
export function compileMessageTemplate(text: string): MessageTemplate {
  if (text.length > MAX_TEMPLATE_CHARS) throw new Error(`longer than ${MAX_TEMPLATE_CHARS} characters`);
  const parts: (string | { readonly path: string; readonly query: JSONPathQuery })[] = [];
  let at = 0;
  for (const { 0: whole, 1: path = '', index } of text.matchAll(PLACEHOLDER)) {
    const query = compile(path);
    if (!query.singularQuery()) throw new Error(`${path} can match more than one value`);
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
