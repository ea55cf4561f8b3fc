// HTTP load from a small C program: a client on Node would need as much CPU time as the servers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { compile, type Numbers } from '../load.js';

export interface HttpJob {
  readonly port: number;
  /** Connections, each with one request at a time. */
  readonly callers: number;
  /** Whole requests as text, sent in turn. */
  readonly requests: readonly string[];
  readonly count: number;
}

/** Resolves with perSecond, p50Ms, p99Ms, maxMs and bytes (of a body); rejects unless every answer is 200. */
export type SendHttp = (job: HttpJob) => Promise<Numbers>;

/** Compiles the client into `folder`; without a compiler, throws an error that names the packages to install. */
export function buildHttpLoad(folder: string): SendHttp {
  const program = compile('test/bench/api/httpload.c', folder);
  return async ({ port, callers, requests, count }) => {
    const child = spawn(program, [port, callers, count, 200].map(String), {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    child.stdin.end(requests.map((request) => `${Buffer.byteLength(request)}\n${request}`).join(''));
    const output = await text(child.stdout);
    await exited;
    const numbers = JSON.parse(output) as Numbers & { error?: string };
    if (numbers.error) throw new Error(`httpload: ${numbers.error}`);
    return numbers;
  };
}

/** Returns a request as text, with a JSON body unless `body` is undefined. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string {
  const json = body === undefined ? '' : JSON.stringify(body);
  const fields = {
    Host: '127.0.0.1',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${json}`;
}
