// An in-memory /api/v1 driven by the contract: requests are checked and answers held to the very schemas of the daemon.
import { createReadStream, existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Route } from '../../src/admin/v1/contract/common.js';
import { routes } from '../../src/admin/v1/contract/index.js';
import { buildOpenApi } from '../../src/admin/v1/openapi.js';
import { type Handlers, MockProblem, mockHandlers } from './mock-handlers.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

export interface MockOptions {
  readonly accounts: number;
  /** Folder of the built console. */
  readonly console: string;
  readonly port?: number;
  /** Stand in for every text that others write: one after the other. */
  readonly texts?: readonly string[];
}

export interface MockDaemon {
  readonly url: string;
  /** An account that is online and a run, to visit. */
  samples(): { accountId: string; runId: string };
  close(): Promise<void>;
}

/** Starts the mock on a loopback port. Sign in with admin / secret. */
export async function startMockDaemon(options: MockOptions): Promise<MockDaemon> {
  const handlers = mockHandlers(options.accounts, options.texts);
  const server = createServer((request, response) => {
    answer(request, response, handlers, options.console).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      problem(response, 500, 'internal', String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    samples: handlers.samples,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const signedIn = new Set<string>();

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: Handlers,
  folder: string,
) {
  const url = new URL(request.url ?? '/', 'http://mock');
  if (!url.pathname.startsWith('/api/')) return serveFile(response, folder, url.pathname);
  const found = find(request.method ?? 'GET', url.pathname);
  if (!found) return problem(response, 404, 'not-found', url.pathname);
  const { route, params } = found;
  const cookie = /pulsegate_session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  if (route.access !== 'public' && !(cookie && signedIn.has(cookie)))
    return problem(response, 401, 'signed-out');

  const query = route.request.query?.safeParse(Object.fromEntries(url.searchParams));
  const text = await read(request);
  const body = route.request.body?.safeParse(text === '' ? undefined : JSON.parse(text));
  const wrong = query?.error ?? body?.error;
  if (wrong)
    return problem(
      response,
      400,
      'validation',
      wrong.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );

  if (route.operationId === 'streamEvents') return stream(response, handlers);
  if (route.operationId === 'getOpenApi')
    return send(response, 200, 'application/json', JSON.stringify(buildOpenApi()));
  if (route.operationId === 'exportAccounts') {
    response.setHeader('content-disposition', 'attachment; filename="accounts.csv"');
    return send(response, 200, 'text/csv', 'username,remarks\nplayer1,\n');
  }
  try {
    const handle = handlers.byOperation[route.operationId];
    if (!handle) return problem(response, 500, 'internal', `no mock of ${route.operationId}`);
    const value = handle({
      params,
      query: query?.data ?? {},
      body: body?.data ?? text,
      ifMatch: request.headers['if-match'],
    });
    if (route.operationId === 'signIn') signIn(response);
    if (route.operationId === 'signOut' && cookie) signedIn.delete(cookie);
    const [status, expected] = Object.entries(route.responses)[0] ?? ['200', undefined];
    if (!expected?.schema) return send(response, Number(status), 'application/json', '');
    return send(response, Number(status), 'application/json', JSON.stringify(expected.schema.parse(value)));
  } catch (error) {
    if (error instanceof MockProblem) return problem(response, error.status, error.code, error.message);
    throw error;
  }
}

function signIn(response: ServerResponse): void {
  const token = `mock-${signedIn.size}-${Date.now()}`;
  signedIn.add(token);
  response.setHeader('set-cookie', `pulsegate_session=${token}; HttpOnly; SameSite=Strict; Path=/`);
}

function find(method: string, path: string): { route: Route; params: Record<string, string> } | null {
  for (const route of routes) {
    if (route.method !== method) continue;
    const names: string[] = [];
    const pattern = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      names.push(name);
      return '([^/]+)';
    });
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (!match) continue;
    const params = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? '')]));
    return { route, params };
  }
  return null;
}

function stream(response: ServerResponse, handlers: Handlers): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const tick = () => response.write(`event: overview\ndata: ${JSON.stringify(handlers.overview())}\n\n`);
  tick();
  const timer = setInterval(tick, 2_000);
  const stop = handlers.onChange((topic) => {
    response.write(`event: changed\ndata: ${JSON.stringify({ topic, id: null })}\n\n`);
  });
  response.on('close', () => {
    clearInterval(timer);
    stop();
  });
}

function serveFile(response: ServerResponse, folder: string, path: string): void {
  const file = join(folder, normalize(path === '/' ? '/index.html' : path));
  if (!file.startsWith(folder) || !existsSync(file)) return problem(response, 404, 'not-found', path);
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': CSP,
  });
  createReadStream(file).pipe(response);
}

function problem(response: ServerResponse, status: number, code: string, detail?: string): void {
  const body = { type: 'about:blank', title: code, status, code, ...(detail ? { detail } : {}) };
  send(response, status, 'application/problem+json', JSON.stringify(body));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

// For developing: node dist/test/helpers/mock-api.js PORT [ACCOUNTS] serves dist/console and stays.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../../console', import.meta.url));
  const { url } = await startMockDaemon({
    console: folder,
    port: Number(process.argv[2] ?? 0),
    accounts: Number(process.argv[3] ?? 10_000),
  });
  process.stdout.write(`${url}\n`);
}
