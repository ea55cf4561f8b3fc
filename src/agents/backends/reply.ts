// What backends share: the reply of an agent that is a stream of bytes, and repeated calls of one that has not started.
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentOutput } from '../../core/agents/runs.js';

/** Collects at most `maxBytes`. `add` returns whether all of the chunk fitted. */
export function collectReply(maxBytes: number) {
  const parts: Buffer[] = [];
  let length = 0;
  return {
    isEmpty: () => length === 0,
    add(part: Buffer): boolean {
      if (length + part.length > maxBytes) return false;
      length += part.length;
      parts.push(part);
      return true;
    },
    // Not every database can store U+0000. The last line break comes from the usual way to print a line, and is not part of the
    // reply.
    text: () =>
      Buffer.concat(parts)
        .toString('utf8')
        .replaceAll('\0', '\uFFFD')
        .replace(/\r?\n$/, ''),
  };
}

export function tooLong(maxBytes: number): string {
  return `the reply is longer than ${maxBytes} bytes`;
}

export function failed(error: string): AgentOutput {
  return { ok: false, error };
}

const MAX_TRIES = 3;
const PAUSE_MS = 500;

/**
 * Makes a call up to three times. The signal bounds the total time.
 * @param mayRetry whether the run has certainly not started; or the time to wait before the retry, in ms
 */
export async function callUntilStarted<T>(
  call: () => Promise<T>,
  mayRetry: (result: T) => boolean | number,
  signal: AbortSignal,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    const result = await call();
    const retry = mayRetry(result);
    if (retry === false || tried === MAX_TRIES || signal.aborted) return result;
    try {
      await pause(retry === true ? PAUSE_MS * tried : retry, undefined, { signal });
    } catch {
      return result;
    }
  }
}
