// The pipes that bulk flows are moved through: a direction has one while it moves bytes, and keeps it only while its
// reader is blocked.
import type { Loop } from './loop.js';

const PIPE_BYTES = 1024 * 1024;
/** A smaller one, which is what a user at the limit of pipe pages gets (pipe(7)), is worse than copying. */
const LEAST_BYTES = 64 * 1024;
/** Empty pipes that are kept for the next flow; each may hold pages only while it is in use. */
const MAX_IDLE = 64;

export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  readonly bytes: number;
  /** Bytes in it. */
  held: number;
}

export interface Pipes {
  /** An empty pipe; null when there is none to be had. */
  acquire(): Pipe | null;
  /** Takes back an empty pipe. */
  release(pipe: Pipe): void;
  /** Closes a pipe that still holds bytes. */
  discard(pipe: Pipe): void;
}

export function createPipes(loop: Loop): Pipes {
  const idle: Pipe[] = [];
  const ends = new Int32Array(2);
  /** Until when none is asked for, because the last was too small or could not be made. */
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

  function discard({ readEnd, writeEnd }: Pick<Pipe, 'readEnd' | 'writeEnd'>): void {
    loop.close(readEnd);
    loop.close(writeEnd);
  }

  return {
    acquire: () => idle.pop() ?? create(),
    release(pipe) {
      if (idle.length < MAX_IDLE) idle.push(pipe);
      else discard(pipe);
    },
    discard,
  };
}
