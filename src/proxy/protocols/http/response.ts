// The destination's answer to a forwarded request, RFC 9112 §4 and §6.3, as it goes on to the client. Bytes in, bytes out.
import { BodyReader, type Framing, framingOf, NO_BODY } from './body.js';
import type { ForwardedRequest } from './forward.js';
import { type Field, type HeadLimits, HeadReader } from './head.js';
import { connectionOptions, endToEnd, writeHead } from './hop.js';

export type ResponseResult =
  /** Send these; null: nothing yet. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer | null }
  /** It is no answer that can be passed on. */
  | { readonly kind: 'malformed' };

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: ([\t \x21-\x7e\x80-\xff]*))?$/;
const MALFORMED: ResponseResult = { kind: 'malformed' };

export class ResponseReader {
  /** A part of the answer is on its way to the client. */
  hasBegun = false;
  /** The client's connection may be used for another request, as far as the answer is concerned. */
  isKept = false;
  readonly #request: ForwardedRequest;
  readonly #limits: HeadLimits;
  #head: HeadReader;
  /** Bytes of the head that is being read. */
  #headBytes = 0;
  /** Bytes of all interim responses, including those that the client does not get. */
  #interimBytes = 0;
  #body: BodyReader | null = null;
  #endsWithConnection = false;

  constructor(request: ForwardedRequest, limits: HeadLimits) {
    this.#request = request;
    this.#limits = limits;
    this.#head = new HeadReader(limits);
  }

  get isDone(): boolean {
    return this.#body?.isDone ?? false;
  }

  /** The destination has ended its side. Whether that is the end of the answer; if not, the answer is cut off. */
  get mayEnd(): boolean {
    return this.isDone || this.#endsWithConnection;
  }

  /** Takes in bytes, cut anywhere. What follows the answer is dropped: nothing else was asked for. */
  feed(chunk: Buffer): ResponseResult {
    const out: Buffer[] = [];
    let rest: Buffer | null = chunk;
    while (rest !== null && this.#body === null) {
      const head = this.#head.feed(rest);
      this.#headBytes += rest.length - (head.kind === 'head' ? (head.rest?.length ?? 0) : 0);
      if (head.kind === 'more') break;
      const bytes = head.kind === 'head' ? this.#readHead(head.startLine, head.fields) : null;
      if (head.kind !== 'head' || bytes === null) return MALFORMED;
      out.push(bytes);
      rest = head.rest;
    }
    if (rest !== null && this.#body !== null) {
      const taken = this.#body.take(rest);
      if (taken === null) return MALFORMED;
      out.push(rest.subarray(0, taken));
    }
    const bytes = Buffer.concat(out);
    if (bytes.length > 0) this.hasBegun = true;
    return { kind: 'bytes', bytes: bytes.length > 0 ? bytes : null };
  }

  #readHead(startLine: string, fields: readonly Field[]): Buffer | null {
    const [, minor, status, phrase = ''] = STATUS_LINE.exec(startLine) ?? [];
    const options = connectionOptions(fields);
    const declared = framingOf(fields);
    if (status === undefined || options === null || declared === 'malformed') return null;
    // A login is asked for by this proxy alone, and nothing was upgraded.
    if (status === '407' || status === '101' || status < '100') return null;
    if (declared?.kind === 'chunked' && (minor === '0' || this.#request.minor === 0)) return null;
    const startsWith = `HTTP/1.1 ${status} ${phrase}`;
    const passedOn = endToEnd(fields, options).map(({ name, value }) => [name, value] as const);
    if (status.startsWith('1')) {
      // Without a limit, a destination could send any amount that counts for no rate and no quota.
      this.#interimBytes += this.#headBytes;
      if (this.#interimBytes > this.#limits.maxHeaderBytes) return null;
      this.#head = new HeadReader(this.#limits);
      this.#headBytes = 0;
      // RFC 9110 §15.2: a client of HTTP/1.0 is sent none.
      return this.#request.minor === 0 ? Buffer.alloc(0) : writeHead(startsWith, passedOn);
    }
    const framing = this.#framingOf(status, declared);
    this.#endsWithConnection = framing.kind === 'until-close';
    this.isKept = this.#request.isKept && !this.#endsWithConnection;
    this.#body = new BodyReader(framing, this.#limits.maxHeaderBytes);
    return writeHead(startsWith, [
      ...passedOn,
      ...(declared?.kind === 'chunked' ? [['Transfer-Encoding', 'chunked'] as const] : []),
      ...(this.isKept ? [] : [['Connection', 'close'] as const]),
    ]);
  }

  /** RFC 9112 §6.3. */
  #framingOf(status: string, declared: Framing | null): Framing {
    if (this.#request.isHead || status === '204' || status === '304') return NO_BODY;
    return declared ?? { kind: 'until-close' };
  }
}
