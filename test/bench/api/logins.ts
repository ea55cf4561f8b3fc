// A part: repeated SOCKS5 logins with a CONNECT, each timed from its connection to the last reply.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Numbers } from '../load.js';
import { servePart } from './parts.js';

export type LoginJob =
  /** Repeats until `stop`: a connection that is closed after the reply to CONNECT, then a pause. */
  | {
      readonly kind: 'logins';
      readonly port: number;
      readonly user: string;
      readonly password: string;
      /** A port of 127.0.0.1 to connect to. */
      readonly target: number;
      readonly callers: number;
      readonly pauseMs: number;
    }
  | { readonly kind: 'stop' };

let isStopped = false;

servePart<LoginJob>(async (job) => {
  isStopped = job.kind === 'stop';
  return job.kind === 'logins' ? await logins(job) : {};
});

async function logins(job: Extract<LoginJob, { kind: 'logins' }>): Promise<Numbers> {
  const [username, password] = [Buffer.from(job.user), Buffer.from(job.password)];
  // RFC 1929 §2.
  const login = Buffer.from([1, username.length, ...username, password.length, ...password]);
  // RFC 1928 §4: CONNECT to an IPv4 address.
  const request = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, job.target >> 8, job.target & 255]);
  const times: number[] = [];
  const caller = async (): Promise<void> => {
    while (!isStopped) {
      const startedAt = performance.now();
      const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true });
      await connectThrough(socket, login, request);
      times.push(performance.now() - startedAt);
      socket.destroy();
      await sleep(job.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: job.callers }, caller));
  times.sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1), count: times.length };
}

async function connectThrough(socket: Socket, login: Buffer, request: Buffer): Promise<void> {
  await once(socket, 'connect');
  // RFC 1928 §3: one method offered, user name and password.
  socket.write(Buffer.from([5, 1, 2]));
  await once(socket, 'data');
  for (const bytes of [login, request]) {
    socket.write(bytes);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    if (reply[1] !== 0) throw new Error(`refused with ${reply[1]}`);
  }
}
