// What the groups of this benchmark share: a measure has sides that do the same work, ours first.
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';
import { cpuSeconds } from '../processes.js';

export interface Side {
  /** Names that begin with `pulsegate` are ours; the others are what we are compared with. */
  readonly name: string;
  run(): Promise<Numbers>;
}

export interface ApiMeasure {
  readonly name: string;
  readonly moreIsBetter: readonly string[];
  readonly sides: readonly Side[];
}

export interface Group {
  readonly name: string;
  /** Starts what the measures need; it ends with the scope. */
  open(t: Scope): Promise<readonly ApiMeasure[]>;
}

export const OURS = 'pulsegate';

/** Runs `work` and adds what process `pid` spent on each of `count`. */
export async function withCpu(
  pid: number,
  count: number,
  work: () => Promise<Numbers>,
): Promise<{ readonly numbers: Numbers; readonly cpuUs: number }> {
  const before = cpuSeconds(pid);
  const numbers = await work();
  return { numbers, cpuUs: ((cpuSeconds(pid) - before) / count) * 1e6 };
}

/** A request as text: `GET /path` with headers, and a JSON body when there is one. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    Host: '127.0.0.1',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
