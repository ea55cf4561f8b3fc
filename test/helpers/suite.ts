// Cleans up the objects that the tests of a `describe` share, after the last test.
import { after } from 'node:test';

export interface Scope {
  after(close: () => unknown): void;
}

/** Call it in the body of a `describe`; what is handed to `after` runs when the suite ends, last first. */
export function suiteScope(): Scope {
  const closers: (() => unknown)[] = [];
  after(async () => {
    for (const close of closers.reverse()) await close();
  });
  return { after: (close) => closers.push(close) };
}
