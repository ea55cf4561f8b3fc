// The worker's pipes: a direction borrows one while it moves bytes, and keeps it only while its reader is blocked.
import type { Libc } from './libc.js';
import { MOST_PIPES } from './shared.js';

const PIPE_BYTES = 256 * 1024;
/** A smaller one, which is what a user at the limit of pipe pages gets, is worse than copying. */
const LEAST_BYTES = 64 * 1024;

export interface Pipes {
  /** An empty pipe, or -1 when there is none to be had. */
  borrow(): number;
  /** Gives back an empty pipe. */
  giveBack(pipe: number): void;
  /** Closes a pipe that still holds bytes. */
  discard(pipe: number): void;
  readEnd(pipe: number): number;
  writeEnd(pipe: number): number;
}

/** `ends` holds each pipe's reading and writing descriptor, 0 where there is no pipe; the main thread sees it too, and closes them in the end. */
export function createPipes(libc: Libc, ends: Int32Array): Pipes {
  const idle: number[] = [];
  const absent = Array.from({ length: MOST_PIPES }, (_, i) => MOST_PIPES - 1 - i);
  const made = new Int32Array(2);
  let mayGrow = true;

  const create = (): number => {
    const pipe = absent.at(-1);
    if (pipe === undefined || !mayGrow) return -1;
    const size = libc.pipe(made, PIPE_BYTES);
    if (size < 0) return -1;
    ends.set(made, 2 * pipe);
    absent.pop();
    if (size >= LEAST_BYTES) return pipe;
    discard(pipe);
    mayGrow = false;
    return -1;
  };
  const discard = (pipe: number): void => {
    for (const end of [2 * pipe, 2 * pipe + 1]) {
      libc.close(ends[end] ?? -1);
      ends[end] = 0;
    }
    absent.push(pipe);
    mayGrow = true;
  };

  return {
    borrow: () => idle.pop() ?? create(),
    giveBack: (pipe) => void idle.push(pipe),
    discard,
    readEnd: (pipe) => ends[2 * pipe] ?? -1,
    writeEnd: (pipe) => ends[2 * pipe + 1] ?? -1,
  };
}
