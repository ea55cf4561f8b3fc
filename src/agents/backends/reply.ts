// The reply of an agent that is a stream of bytes: `command` and `socket`.
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
