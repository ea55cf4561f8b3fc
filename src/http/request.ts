// What a request contains: its headers; fields of its body or query, which may occur once, by names in any case; and its body: bounded,
// not compressed, UTF-8, one JSON object. Every refusal names what was expected.
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { decoded, parseJson, UTF8_WITHOUT_MARK } from '../core/text.js';
import { quoted, type Refusal, refusal } from './answer.js';

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

export type JsonBody =
  | {
      readonly ok: true;
      readonly fields: Fields;
      /** The names as they were sent. */
      readonly names: readonly string[];
    }
  | Refusal;

export type ReadJsonObject = (ctx: Context) => Promise<JsonBody>;

/** Makes the reader. `maxBytes` is the largest body that it accepts. */
export function createBodyReader(maxBytes: number): ReadJsonObject {
  const readBytes = createBytesReader(maxBytes);
  const tooLarge = refusal('body-too-large', `the body may have at most ${maxBytes} bytes`);

  return async (ctx) => {
    const wrong = headersRefusal(ctx);
    if (wrong) return wrong;
    const bytes = await readBytes(ctx);
    if (bytes === 'too-large') return tooLarge;
    if (bytes === 'cut-short') return refusal('malformed-request', 'the body ended before it was complete');
    const text = decoded(bytes, UTF8_WITHOUT_MARK);
    if (text === null) return refusal('malformed-request', 'the body is not valid UTF-8');
    if (text.trim() === '') return refusal('malformed-request', 'the body is empty; expected a JSON object');
    return parseObject(text);
  };
}

function headersRefusal(ctx: Context): Refusal | null {
  const { headers } = ctx.req;
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    return refusal('unsupported-body', `Content-Encoding is ${quoted(coding)}; send the body uncompressed`);
  }
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  if (transfer.toLowerCase() !== 'chunked') {
    return refusal('unsupported-body', `Transfer-Encoding is ${quoted(transfer)}; only chunked is supported`);
  }
  if (!hasBody(ctx.req)) return refusal('malformed-request', 'there is no body; expected a JSON object');
  const charset = ctx.request.charset.toLowerCase();
  if (ctx.request.type.toLowerCase() !== 'application/json' || !['', 'utf-8', 'utf8'].includes(charset)) {
    const found = headers['content-type'] === undefined ? 'missing' : quoted(headers['content-type']);
    return refusal('unsupported-body', `Content-Type is ${found}; expected application/json in UTF-8`);
  }
  return null;
}

function parseObject(text: string): JsonBody {
  const value = parseJson(text);
  if (value === undefined) return refusal('malformed-request', 'the body is not valid JSON');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    return refusal('malformed-request', `the body is ${found}; expected a JSON object`);
  }
  const read = fieldsOf(Object.entries(value));
  return read.ok ? { ...read, names: Object.keys(value) } : read;
}

/** The body's bytes; `too-large`: there are more than the limit; `cut-short`: the body ended before it was complete. */
export type BodyBytes = Buffer | 'too-large' | 'cut-short';

/** Whether a request has a body, by its head (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredBytes(headers) > 0;
}

/** The `Content-Length`; 0 without one. */
export const declaredBytes = (headers: IncomingMessage['headers']): number =>
  Number(headers['content-length'] ?? 0);

/**
 * Makes the reader of bodies of at most `maxBytes`. The caller checks Content-Type and Content-Encoding itself: the reader ignores
 * them.
 */
export function createBytesReader(maxBytes: number): (ctx: Context) => Promise<BodyBytes> {
  const options: bodyParser.Options & { encoding: string } = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/octet-stream'] },
    textLimit: `${maxBytes}b`,
    encoding: 'binary',
  };
  const read: Middleware = bodyParser(options);
  return async (ctx) => {
    if (declaredBytes(ctx.req.headers) > maxBytes) return 'too-large';
    // koa-bodyparser decides by these two headers.
    ctx.req.headers['content-type'] = 'application/octet-stream';
    delete ctx.req.headers['content-encoding'];
    try {
      await read(ctx, async () => {});
    } catch (err) {
      // Discard the rest of the body, so that the client can receive the answer.
      ctx.req.resume();
      return typeOf(err) === 'entity.too.large' ? 'too-large' : 'cut-short';
    }
    const raw: unknown = ctx.request.rawBody;
    return Buffer.from(typeof raw === 'string' ? raw : '', 'binary');
  };
}

/** raw-body's errors carry the kind of failure in `type`. */
const typeOf = (err: unknown): unknown => (err instanceof Error && 'type' in err ? err.type : undefined);
