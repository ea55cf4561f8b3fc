// Parts of the benchmark in separate processes, so that their costs are not counted as those of the daemon.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';

export interface Part {
  readonly pid: number;
  /** Sends a job and resolves with its numbers; rejects with the error of the part. */
  run(job: unknown): Promise<Numbers>;
}

type Answer = { readonly id: number } & ({ readonly numbers: Numbers } | { readonly error: string });

/** Starts `file` of this folder (without its extension) as a part; the end of the scope stops it. */
export async function startPart(t: Scope, file: string, ...args: string[]): Promise<Part> {
  const child = fork(join(import.meta.dirname, `${file}.js`), args);
  const ended = once(child, 'exit');
  t.after(async () => {
    // A killed part could not remove its temporary folder.
    if (child.connected) child.disconnect();
    await ended;
  });
  const waiting = new Map<number, { resolve(numbers: Numbers): void; reject(error: Error): void }>();
  let jobs = 0;
  child.on('message', (message) => {
    const answer = message as Answer;
    const job = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer) job?.reject(new Error(`${file}: ${answer.error}`));
    else job?.resolve(answer.numbers);
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  return {
    pid: child.pid ?? 0,
    run: (job) =>
      new Promise((resolve, reject) => {
        jobs += 1;
        waiting.set(jobs, { resolve, reject });
        child.send({ id: jobs, job });
      }),
  };
}

/** Call it in a part: runs each job as soon as it arrives, several at a time when they overlap. */
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
