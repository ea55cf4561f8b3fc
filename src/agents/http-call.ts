// Sends one HTTP request with a size limit for the response, for HTTP agents and channels.
import { lookup as lookUp } from 'node:dns';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { oneLine } from '../core/text.js';

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Maximum size of the response; a longer one is a failure. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Time limit in ms; without it only the signal ends the call. */
  readonly timeoutMs?: number;
  /** Decides on the address that is connected to, so that a name cannot resolve to another one meanwhile. */
  readonly mayConnect?: MayConnect | undefined;
}

/** @param host the name that was resolved to the address, or the address */
export type MayConnect = (host: string, address: string, port: number) => boolean;

const REFUSED = 'its address is not permitted';

export type HttpResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  /** `isSent: false`: the server has certainly not received the request, so the caller can send it again. */
  | { readonly ok: false; readonly detail: string; readonly isSent: boolean };

// Error codes of name resolution and connecting, which happen before the request is sent.
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
]);

/**
 * Sends the request over a new connection. Follows no redirects, because a reply must go only to the configured URL. Never rejects:
 * an aborted call is a failure.
 */
export function callHttp(call: HttpCall): Promise<HttpResult> {
  return new Promise((resolve) => {
    const url = new URL(call.url);
    const { timeoutMs, mayConnect } = call;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    // An address is connected to without a lookup.
    if (mayConnect && isIP(host) !== 0 && !mayConnect(host, host, port))
      return resolve({ ok: false, detail: REFUSED, isSent: false });
    const lookup: LookupFunction = (name, options, done) =>
      lookUp(name, { ...options, all: true }, (error, found) => {
        const permitted = (found ?? []).filter(({ address }) => mayConnect?.(host, address, port) !== false);
        const [first] = permitted;
        if (error || !first) done(error ?? new Error(REFUSED), '', 0);
        else if (options.all) done(null, permitted);
        else done(null, first.address, first.family);
      });
    const late = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, {
      method: call.method,
      agent: false,
      lookup,
      signal: late ? AbortSignal.any([call.signal, late]) : call.signal,
      headers: {
        'user-agent': 'Pulsegate',
        'accept-encoding': 'identity',
        ...(call.body === null ? {} : { 'content-length': Buffer.byteLength(call.body) }),
        ...call.headers,
      },
    });
    const fail = (error: Error & { code?: string }) => {
      const code = error.code ?? '';
      const detail = late?.aborted ? `no answer within ${timeoutMs} ms` : describe(error, code);
      resolve({ ok: false, detail, isSent: !BEFORE_SENDING.has(code) });
    };
    request.on('error', fail);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        length += part.length;
        if (length <= call.maxBytes) parts.push(part);
        else response.destroy(new Error(`the answer is longer than ${call.maxBytes} bytes`));
      });
      response.on('error', fail);
      response.on('close', () => {
        if (!response.complete) fail(new Error('the connection was closed in the middle of the answer'));
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ ok: true, status, headers, body: Buffer.concat(parts) });
      });
    });
    request.end(call.body ?? undefined);
  });
}

function describe(error: Error, code: string): string {
  // An AggregateError of Happy Eyeballs contains several failures and has no message itself.
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  return first.message || code || 'the request failed';
}

/** Returns the value of a Retry-After header (RFC 9110 §10.2.3: seconds or a date) in ms from `now`; null when it is missing or invalid. */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | null {
  const value = headers['retry-after'];
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Characters of a response in an error message. */
const MAX_EXCERPT = 200;

/** Returns the beginning of a response on one line, for an error message. */
export function excerpt(body: Buffer): string {
  const text = oneLine(body.subarray(0, MAX_EXCERPT * 4).toString('utf8'));
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}
