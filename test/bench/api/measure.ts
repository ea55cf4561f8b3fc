// Types and helpers of all groups of this benchmark. A measure has sides that do the same work; the first is the daemon.
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';
import { cpuSeconds } from '../processes.js';

export interface Side {
  /** Names that begin with `pulsegate` are the daemon; it is compared with the others. */
  readonly name: string;
  run(): Promise<Numbers>;
}

export interface ApiMeasure {
  readonly name: string;
  readonly moreIsBetter: readonly string[];
  readonly sides: readonly Side[];
  /** Every run starts new processes, so there is no warm-up. */
  readonly startsAnew?: boolean;
}

export interface Group {
  readonly name: string;
  /** Starts the processes of the measures; the end of the scope stops them. */
  open(t: Scope): Promise<readonly ApiMeasure[]>;
}

export const OURS = 'pulsegate';

/** Runs `work` and measures the CPU time of process `pid` for each of `count` items. */
export async function withCpu(
  pid: number,
  count: number,
  work: () => Promise<Numbers>,
): Promise<{ readonly numbers: Numbers; readonly cpuUs: number }> {
  const before = cpuSeconds(pid);
  const numbers = await work();
  return { numbers, cpuUs: ((cpuSeconds(pid) - before) / count) * 1e6 };
}

/** Runs `work` with a new scope that ends after it. */
export async function inScope<T>(work: (t: Scope) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  try {
    return await work({ after: (close) => void closers.push(close) });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
