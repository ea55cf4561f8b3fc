// Cleans up the shared objects of a `describe` after its last test.
import { after } from 'node:test';

export interface Scope {
  after(close: () => unknown): void;
}

/** Call it in the body of a `describe`. The functions passed to `after` run when the suite ends, the last one first. */
export function suiteScope(): Scope {
  const closers: (() => unknown)[] = [];
  after(async () => {
    for (const close of closers.reverse()) await close();
  });
  return { after: (close) => closers.push(close) };
}
