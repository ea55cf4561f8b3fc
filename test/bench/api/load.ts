// A part: the clients. HTTP over kept-alive connections, written and read by hand to be cheap, and SOCKS5 logins.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Numbers } from '../load.js';
import { servePart } from './parts.js';

export interface HttpJob {
  readonly kind: 'http';
  readonly port: number;
  /** Connections, each with one request under way. */
  readonly callers: number;
  /** Whole requests as text, taken in turn. */
  readonly requests: readonly string[];
  readonly count: number;
  readonly status: number;
}

/** Logs in over and over until a `stop`; each login is a connection that is closed after the answer. */
export interface LoginJob {
  readonly kind: 'logins';
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly callers: number;
  readonly pauseMs: number;
}

export type LoadJob = HttpJob | LoginJob | { readonly kind: 'stop' };

let isStopped = false;

servePart<LoadJob>(async (job) => {
  if (job.kind === 'http') return await http(job);
  isStopped = job.kind === 'stop';
  return job.kind === 'logins' ? await logins(job) : {};
});

async function http({ port, callers, requests, count, status }: HttpJob): Promise<Numbers> {
  const texts = requests.map((text) => Buffer.from(text));
  const sockets = await Promise.all(Array.from({ length: Math.min(callers, count) }, () => open(port)));
  const times: number[] = [];
  let bytes = 0;
  let begun = 0;
  const startedAt = performance.now();
  await Promise.all(
    sockets.map(async (socket) => {
      const answers = readAnswers(socket);
      while (begun < count) {
        const text = texts[begun % texts.length] ?? '';
        begun += 1;
        const sentAt = performance.now();
        socket.write(text);
        const answer = await answers.next();
        times.push(performance.now() - sentAt);
        if (answer.status !== status)
          throw new Error(`HTTP ${answer.status}: ${text.toString().slice(0, 200)}`);
        bytes += answer.bytes;
      }
      socket.destroy();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { ...spread(times), perSecond: count / seconds, bytes: bytes / count };
}

/** Reads answers with a Content-Length, one at a time. */
function readAnswers(socket: Socket): { next(): Promise<{ status: number; bytes: number }> } {
  let resolve = (_: { status: number; bytes: number }): void => {};
  let reject = (_: Error): void => {};
  let head: Buffer | null = Buffer.alloc(0);
  let status = 0;
  let bytes = 0;
  let left = 0;
  socket.on('data', (chunk: Buffer) => {
    if (head === null) {
      left -= chunk.length;
    } else {
      const all = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = all.indexOf('\r\n\r\n');
      head = end < 0 ? all : null;
      if (head !== null) return;
      const text = all.toString('latin1', 0, end);
      status = Number(text.slice(9, 12));
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
      if (length === undefined) return reject(new Error(`an answer without a length: ${text}`));
      bytes = Number(length);
      left = bytes - (all.length - end - 4);
    }
    if (left > 0) return;
    head = Buffer.alloc(0);
    resolve({ status, bytes });
  });
  socket.on('close', () => reject(new Error('the server hung up')));
  return {
    next: () =>
      new Promise((resolveNext, rejectNext) => {
        resolve = resolveNext;
        reject = rejectNext;
      }),
  };
}

async function logins({ port, user, password, callers, pauseMs }: LoginJob): Promise<Numbers> {
  const [name, secret] = [Buffer.from(user), Buffer.from(password)];
  const login = Buffer.from([1, name.length, ...name, secret.length, ...secret]);
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isStopped) {
        const startedAt = performance.now();
        const socket = await open(port);
        // RFC 1928 §3: one method offered, user name and password.
        socket.write(Buffer.from([5, 1, 2]));
        await once(socket, 'data');
        socket.write(login);
        const [reply] = (await once(socket, 'data')) as [Buffer];
        times.push(performance.now() - startedAt);
        socket.destroy();
        if (reply[1] !== 0) throw new Error('a login was refused');
        await sleep(pauseMs);
      }
    }),
  );
  return { ...spread(times), count: times.length };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

function spread(times: number[]): Numbers {
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
