// Parses the head of an HTTP/1 message, RFC 9112 §2 to §5: a start line and header fields; the boundaries of chunks do not matter.
// It is strict where two parsers could understand a message differently (RFC 9112 §11.2): a bare CR or LF, a folded line, white
// space before a colon and control characters are malformed.

export interface HeadLimits {
  /** Maximum size of a head with its empty line. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
}

export interface Field {
  /** The name as it was sent; for comparisons see `lower`. */
  readonly name: string;
  readonly lower: string;
  /** One character a byte, without the white space around it. */
  readonly value: string;
}

type HeadResult =
  | { readonly kind: 'more' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too-large' }
  | {
      readonly kind: 'head';
      readonly startLine: string;
      readonly fields: readonly Field[];
      /** The bytes after the head. */
      readonly rest: Buffer | null;
    };

const CR = 0x0d;
const LF = 0x0a;
const MORE: HeadResult = { kind: 'more' };
const MALFORMED: HeadResult = { kind: 'malformed' };
const TOO_LARGE: HeadResult = { kind: 'too-large' };

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 §5.5, one character a byte. */
const FIELD_VALUE = /^[\t \x21-\x7e\x80-\xff]*$/;

export class HeadReader {
  #bytes: Buffer = Buffer.alloc(0);
  #scannedTo = 0;
  #lineAt = 0;
  #startLine: string | null = null;
  #fields: Field[] = [];

  constructor(private readonly limits: HeadLimits) {}

  /** Adds bytes. After a result other than 'more' the reader must not be used again. */
  feed(chunk: Buffer): HeadResult {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const { maxHeaderBytes } = this.limits;
    const end = Math.min(this.#bytes.length, maxHeaderBytes);
    while (this.#scannedTo < end) {
      const at = this.#scannedTo;
      const byte = this.#bytes[at];
      const isBehindCr = at > this.#lineAt && this.#bytes[at - 1] === CR;
      if ((byte === LF) !== isBehindCr) return MALFORMED;
      this.#scannedTo += 1;
      if (byte !== LF) continue;
      const result = this.#takeLine(this.#bytes.toString('latin1', this.#lineAt, at - 1));
      if (result !== null) return result;
      this.#lineAt = this.#scannedTo;
    }
    return this.#bytes.length >= maxHeaderBytes ? TOO_LARGE : MORE;
  }

  #takeLine(line: string): HeadResult | null {
    if (this.#startLine === null) {
      // One empty line before a request is ignored (RFC 9112 §2.2); a second one is malformed.
      if (line === '') return this.#lineAt === 0 ? null : MALFORMED;
      this.#startLine = line;
      return null;
    }
    if (line === '') {
      const rest = this.#bytes.subarray(this.#scannedTo);
      return {
        kind: 'head',
        startLine: this.#startLine,
        fields: this.#fields,
        rest: rest.length > 0 ? rest : null,
      };
    }
    if (this.#fields.length >= this.limits.maxHeaderFields) return TOO_LARGE;
    const field = readField(line);
    if (field === null) return MALFORMED;
    this.#fields.push(field);
    return null;
  }
}

/** A header or trailer line, RFC 9112 §5; null: malformed. A folded line begins with white space and has no name. */
export function readField(line: string): Field | null {
  const colonAt = line.indexOf(':');
  if (colonAt === -1) return null;
  const name = line.slice(0, colonAt);
  const value = withoutOuterSpace(line, colonAt + 1);
  if (!TOKEN.test(name) || !FIELD_VALUE.test(value)) return null;
  return { name, lower: name.toLowerCase(), value };
}

/** RFC 9110 §5.6.3: spaces and tabs, and no other white space. */
function withoutOuterSpace(line: string, from: number): string {
  let start = from;
  let end = line.length;
  const isSpace = (at: number): boolean => line[at] === ' ' || line[at] === '\t';
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return line.slice(start, end);
}

/** The values of every field of this name (given in lower case), in order. */
export function valuesOf(fields: readonly Field[], lower: string): string[] {
  return fields.filter((field) => field.lower === lower).map(({ value }) => value);
}

/**
 * RFC 9110 §7.6.1. The proxy adds neither Via nor X-Forwarded-For, so that the destination does not learn the player's address or
 * that there is a proxy.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);
/** Fields that Connection must not name: without them the destination would understand another message. */
const NEVER_NAMED = new Set(['content-length', 'content-type', 'host']);

/** The options of Connection and Proxy-Connection, in lower case; null: malformed. */
export function connectionOptions(fields: readonly Field[]): ReadonlySet<string> | null {
  const values = [...valuesOf(fields, 'connection'), ...valuesOf(fields, 'proxy-connection')];
  const options = values
    .flatMap((value) => value.split(','))
    .map((option) => option.trim().toLowerCase())
    .filter((option) => option !== '');
  if (!options.every((option) => TOKEN.test(option))) return null;
  return options.some((option) => NEVER_NAMED.has(option)) ? null : new Set(options);
}

/** The fields to forward. */
export function endToEnd(fields: readonly Field[], options: ReadonlySet<string>): readonly Field[] {
  return fields.filter(({ lower }) => !HOP_BY_HOP.has(lower) && !options.has(lower));
}

export function writeHead(startLine: string, fields: readonly (readonly [string, string])[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`, 'latin1');
}
