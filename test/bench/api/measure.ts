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
  /** Every run begins with processes of its own: there is nothing to warm up. */
  readonly startsAnew?: boolean;
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

/** Does `work` with a scope of its own, which ends with it. */
export async function inScope<T>(work: (t: Scope) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  try {
    return await work({ after: (close) => void closers.push(close) });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
