// The pipes for bulk flows: a direction borrows one while it moves bytes, and keeps it longer only while its reader is blocked.
import type { Loop } from './loop.js';

const PIPE_BYTES = 1024 * 1024;
/** Minimum size. A user at the limit of pipe pages gets smaller ones (pipe(7)), which are slower than copying. */
const LEAST_BYTES = 64 * 1024;
/** Maximum number of empty pipes that are kept for further flows. A pipe holds memory only while it has bytes. */
const MAX_IDLE = 64;

export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  readonly bytes: number;
  /** Number of bytes in the pipe. */
  held: number;
}

export type Pipes = ReturnType<typeof createPipes>;

export function createPipes(loop: Loop) {
  const idle: Pipe[] = [];
  const ends = new Int32Array(2);
  /** No pipe is created before this time, because the last attempt failed or the pipe was too small. */
  let noneUntil = 0;

  function create(): Pipe | null {
    if (loop.now() < noneUntil) return null;
    const bytes = loop.libc.pipe(ends, PIPE_BYTES);
    const [readEnd = -1, writeEnd = -1] = ends;
    if (bytes >= 0) {
      loop.own(readEnd);
      loop.own(writeEnd);
      if (bytes >= LEAST_BYTES) return { readEnd, writeEnd, bytes, held: 0 };
      discard({ readEnd, writeEnd });
    }
    noneUntil = loop.now() + 1_000;
    return null;
  }

  /** Closes a pipe that still holds bytes. */
  function discard({ readEnd, writeEnd }: Pick<Pipe, 'readEnd' | 'writeEnd'>): void {
    loop.close(readEnd);
    loop.close(writeEnd);
  }

  return {
    /** An empty pipe; null: none can be created now. */
    acquire: (): Pipe | null => idle.pop() ?? create(),
    /** Returns an empty pipe. */
    release(pipe: Pipe): void {
      if (idle.length < MAX_IDLE) idle.push(pipe);
      else discard(pipe);
    },
    discard,
  };
}
