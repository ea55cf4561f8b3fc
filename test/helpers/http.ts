// A raw HTTP client for tests: sends exactly the given bytes, also invalid ones.
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined when there is none or it is not JSON. */
  readonly json: unknown;
}

export interface HttpRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly body?: string | Buffer | undefined;
  readonly agent?: Agent | undefined;
  /** The only trusted certificate of an https URL, in PEM. */
  readonly ca?: string | undefined;
}

/** Sends one request, on its own connection unless there is an agent. Sets Content-Length for a body without Transfer-Encoding. */
export function send(
  url: string,
  { method = 'GET', headers = {}, body, agent, ca }: HttpRequest = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const isChunked = 'transfer-encoding' in headers;
    const length = body === undefined || isChunked ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { method, agent: agent ?? false, headers: { ...length, ...headers } };
    const onResponse = (res: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json: parseJson(text) });
      });
    };
    const req = url.startsWith('https:')
      ? httpsRequest(url, { ...options, ca }, onResponse)
      : httpRequest(url, options, onResponse);
    req.on('error', reject);
    req.end(body);
  });
}

/** What `fetch` sends with every request, except that the answer may be compressed. */
const DEFAULTS = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' };

/** Connections for further requests. The daemon closes an idle one later than this agent. */
const kept = new Agent({ keepAlive: true, timeout: 5_000 });

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when there is none or it is not JSON. */
  readonly json: unknown;
}

/** Sends a request to an `http:` URL like `fetch`, which takes three times the CPU time. Follows no redirect. */
export function ask(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { method, agent: kept, headers: { ...DEFAULTS, ...length, ...headers } };
    const request = httpRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode = 0, rawHeaders } = response;
        let headers: Headers | null = null;
        resolve({
          status: statusCode,
          /** Made when a test reads them: most do not. */
          get headers() {
            headers ??= headersOf(rawHeaders);
            return headers;
          },
          text,
          json: parseJson(text),
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '');
  return headers;
}

/** Returns the value of Authorization or Proxy-Authorization for these credentials (RFC 7617). */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/**
 * Writes bytes to a new connection and returns all received bytes, until the server ends or resets the connection. The request
 * should contain `Connection: close`.
 */
export function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    // A reset after the response counts as an end. The received bytes show what happened.
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.write(bytes);
  });
}

/** Returns status and parsed body of a result of `exchange`; status 0 when nothing was received. */
export function parseExchange(received: string): { status: number; head: string; json: unknown } {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    head,
    json: parseJson(rest.join('\r\n\r\n')),
  };
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
