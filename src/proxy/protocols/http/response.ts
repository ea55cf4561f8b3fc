// Rewrites the destination's response to a forwarded request (RFC 9112 §4 and §6.3) for the client.
import { BodyReader, type Framing, framingOf, NO_BODY } from './body.js';
import type { ForwardedRequest } from './forward.js';
import { connectionOptions, endToEnd, type Field, type HeadLimits, HeadReader, writeHead } from './head.js';

export type ResponseResult =
  /** The bytes to send to the client; null: none yet. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer | null }
  /** The response cannot be forwarded. */
  | { readonly kind: 'malformed' };

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: ([\t \x21-\x7e\x80-\xff]*))?$/;
const MALFORMED: ResponseResult = { kind: 'malformed' };

export class ResponseReader {
  /** A part of the response has been sent to the client. */
  hasBegun = false;
  /** Whether the response permits another request on the client's connection. */
  isKept = false;
  readonly #request: ForwardedRequest;
  readonly #limits: HeadLimits;
  #head: HeadReader;
  #headBytes = 0;
  /** Number of bytes of all interim responses, including those that are not forwarded. */
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

  /** Whether a FIN of the destination now ends the response; otherwise the response is incomplete. */
  get mayEnd(): boolean {
    return this.isDone || this.#endsWithConnection;
  }

  /** Adds bytes; the boundaries of chunks do not matter. Bytes after the response are dropped, because there was only one request. */
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
    // Only this proxy may request a login, and it forwards no upgrade.
    if (status === '407' || status === '101' || status < '100') return null;
    if (declared?.kind === 'chunked' && minor === '0') return null;
    const startsWith = `HTTP/1.1 ${status} ${phrase}`;
    const isInterim = status.startsWith('1');
    // RFC 9110 §8.6: in these responses the field would be wrong, whatever its value.
    const hasNoLength = isInterim || status === '204';
    const passedOn = endToEnd(fields, options)
      .filter(({ lower }) => !hasNoLength || lower !== 'content-length')
      .map(({ name, value }) => [name, value] as const);
    if (isInterim) {
      // Without a limit, a destination could send any amount of bytes that no rate and no quota counts.
      this.#interimBytes += this.#headBytes;
      if (this.#interimBytes > this.#limits.maxHeaderBytes) return null;
      this.#head = new HeadReader(this.#limits);
      this.#headBytes = 0;
      // RFC 9110 §15.2: a client of HTTP/1.0 gets no interim response.
      return this.#request.minor === 0 ? Buffer.alloc(0) : writeHead(startsWith, passedOn);
    }
    const framing = this.#framingOf(status, declared);
    if (framing.kind === 'chunked' && this.#request.minor === 0) return null;
    this.#endsWithConnection = framing.kind === 'until-close';
    this.isKept = this.#request.isKept && !this.#endsWithConnection;
    this.#body = new BodyReader(framing, this.#limits.maxHeaderBytes);
    return writeHead(startsWith, [
      ...passedOn,
      // Only with a body: RFC 9112 §6.1 forbids the field in a 204, and requires it nowhere else.
      ...(framing.kind === 'chunked' ? [['Transfer-Encoding', 'chunked'] as const] : []),
      ...(this.isKept ? [] : [['Connection', 'close'] as const]),
    ]);
  }

  /** RFC 9112 §6.3. */
  #framingOf(status: string, declared: Framing | null): Framing {
    if (this.#request.isHead || status === '204' || status === '304') return NO_BODY;
    return declared ?? { kind: 'until-close' };
  }
}
