// Parts of the benchmark that run in processes of their own, so that what they cost is not counted as the daemon's.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';

export interface Part {
  readonly pid: number;
  /** Hands over a job; rejects with what the part threw. */
  ask(job: unknown): Promise<Numbers>;
}

type Answer = { readonly id: number } & ({ readonly numbers: Numbers } | { readonly error: string });

/** Starts `file` (beside this one, without its ending) as a part; it ends with the scope. */
export async function startPart(t: Scope, file: string, ...args: string[]): Promise<Part> {
  const child = fork(join(import.meta.dirname, `${file}.js`), args);
  const ended = once(child, 'exit');
  t.after(async () => {
    // Rather than kill it: what it keeps in a folder goes with it.
    if (child.connected) child.disconnect();
    await ended;
  });
  const waiting = new Map<number, { resolve(numbers: Numbers): void; reject(error: Error): void }>();
  let jobs = 0;
  child.on('message', (message) => {
    const answer = message as Answer;
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer) asked?.reject(new Error(`${file}: ${answer.error}`));
    else asked?.resolve(answer.numbers);
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  return {
    pid: child.pid ?? 0,
    ask: (job) =>
      new Promise((resolve, reject) => {
        jobs += 1;
        waiting.set(jobs, { resolve, reject });
        child.send({ id: jobs, job });
      }),
  };
}

/** In a part: does the jobs as they come, several at a time when they overlap. */
export function servePart<Job>(work: (job: Job) => Promise<Numbers>): void {
  process.on('message', async (message) => {
    const { id, job } = message as { id: number; job: Job };
    const answer: Answer = await work(job).then(
      (numbers) => ({ id, numbers }),
      (error: unknown) => ({
        id,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    );
    process.send?.(answer);
  });
  process.once('disconnect', () => process.exit());
}
