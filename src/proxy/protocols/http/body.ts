// Finds the end of the body of an HTTP/1 message, RFC 9112 §6 and §7. The bytes are forwarded unchanged. A body that another
// parser could end elsewhere is malformed.
import { type Field, readField, valuesOf } from './head.js';

export type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** Only for responses. */
  | { readonly kind: 'until-close' };

export const NO_BODY: Framing = { kind: 'length', bytes: 0 };

/** At most 15 digits, so that the number is exact. */
const LENGTH = /^\d{1,15}$/;
/** A size, and extensions, which are forwarded unread; RFC 9112 §7.1. */
const CHUNK_LINE = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t \x21-\x7e\x80-\xff]*)?$/;
const MAX_CHUNK_LINE_BYTES = 256;
const CR = 0x0d;
const LF = 0x0a;

/**
 * The framing that the fields declare; null: none. 'malformed' when two fields contradict each other (RFC 9112 §6.3 and §11.2) or
 * the coding is unknown.
 */
export function framingOf(fields: readonly Field[]): Framing | null | 'malformed' {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  if (lengths.length + codings.length > 1) return 'malformed';
  const [coding] = codings;
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' ? { kind: 'chunked' } : 'malformed';
  const [length] = lengths;
  if (length === undefined) return null;
  return LENGTH.test(length) ? { kind: 'length', bytes: Number(length) } : 'malformed';
}

/** Reads a body; the boundaries of chunks do not matter. */
export class BodyReader {
  isDone: boolean;
  readonly #framing: Framing;
  readonly #maxTrailerBytes: number;
  /** Remaining bytes of the body, or of the chunk with its CRLF. */
  #left = 0;
  #stage: 'size' | 'data' | 'trailer' = 'size';
  #line = '';
  #trailerBytes = 0;

  constructor(framing: Framing, maxTrailerBytes: number) {
    this.#framing = framing;
    this.#maxTrailerBytes = maxTrailerBytes;
    if (framing.kind === 'length') this.#left = framing.bytes;
    this.isDone = framing.kind === 'length' && framing.bytes === 0;
  }

  /** How many of these bytes belong to the body; null: they are malformed. */
  take(bytes: Buffer): number | null {
    if (this.isDone) return 0;
    if (this.#framing.kind === 'until-close') return bytes.length;
    if (this.#framing.kind === 'chunked') return this.#takeChunks(bytes);
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    this.isDone = this.#left === 0;
    return taken;
  }

  #takeChunks(bytes: Buffer): number | null {
    let at = 0;
    while (at < bytes.length && !this.isDone) {
      if (this.#stage === 'data') {
        const taken = this.#takeData(bytes, at);
        if (taken === null) return null;
        at += taken;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if ((byte === LF) !== this.#line.endsWith('\r')) return null;
      if (byte !== LF) {
        this.#line += String.fromCharCode(byte);
        if (this.#line.length > this.#maxLineBytes) return null;
        continue;
      }
      const line = this.#line.slice(0, -1);
      this.#line = '';
      if (!this.#takeLine(line)) return null;
    }
    return at;
  }

  get #maxLineBytes(): number {
    return this.#stage === 'size' ? MAX_CHUNK_LINE_BYTES : this.#maxTrailerBytes - this.#trailerBytes;
  }

  /** The last two of the remaining bytes are the CRLF after the chunk. */
  #takeData(bytes: Buffer, at: number): number | null {
    const taken = Math.min(this.#left, bytes.length - at);
    const crAt = at + this.#left - 2;
    if (this.#left >= 2 && crAt < at + taken && bytes[crAt] !== CR) return null;
    if (taken === this.#left && bytes[at + taken - 1] !== LF) return null;
    this.#left -= taken;
    if (this.#left === 0) this.#stage = 'size';
    return taken;
  }

  #takeLine(line: string): boolean {
    if (this.#stage === 'trailer') {
      this.#trailerBytes += line.length + 2;
      this.isDone = line === '';
      return this.isDone || readField(line) !== null;
    }
    const [, size] = CHUNK_LINE.exec(line) ?? [];
    if (size === undefined) return false;
    const length = Number.parseInt(size, 16);
    this.#stage = length === 0 ? 'trailer' : 'data';
    this.#left = length + 2;
    return true;
  }
}
