// Reads a request body: bounded, not compressed, UTF-8, one JSON object. Every refusal names what was expected.
import type { Context } from 'koa';
import { quoted, type Refusal, refusal } from './answer.js';
import { createBytesReader, hasBody } from './body-bytes.js';
import { type Fields, fieldsOf } from './fields.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export type JsonBody =
  | {
      readonly ok: true;
      readonly fields: Fields;
      /** The names as they were sent. */
      readonly names: readonly string[];
    }
  | Refusal;

/** Reads the body of a request as one JSON object. */
export type ReadJsonObject = (ctx: Context) => Promise<JsonBody>;

/** Makes the reader. `maxBytes` is the largest body that it accepts. */
export function createBodyReader(maxBytes: number): ReadJsonObject {
  const readBytes = createBytesReader(maxBytes);
  const tooLarge = refusal('body-too-large', `the body may have at most ${maxBytes} bytes`);

  return async (ctx) => {
    const wrong = refuseByHeaders(ctx);
    if (wrong) return wrong;
    const bytes = await readBytes(ctx);
    if (bytes === 'too-large') return tooLarge;
    if (bytes === 'cut-short') {
      return refusal('malformed-request', 'the body ended before it was complete');
    }
    const text = decode(bytes);
    if (text === null) return refusal('malformed-request', 'the body is not valid UTF-8');
    if (text.trim() === '') return refusal('malformed-request', 'the body is empty; expected a JSON object');
    return parseObject(text);
  };
}

function refuseByHeaders(ctx: Context): Refusal | null {
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

function decode(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

function parseObject(text: string): JsonBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The detail omits the parser's message, which quotes the body and with it a password.
    return refusal('malformed-request', 'the body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    return refusal('malformed-request', `the body is ${found}; expected a JSON object`);
  }
  const read = fieldsOf(Object.entries(value));
  return read.ok ? { ...read, names: Object.keys(value) } : read;
}
