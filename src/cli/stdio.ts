// A file named `-`: stdin where a command reads, stdout where it writes.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Surroundings } from './command.js';

export const STDIO = '-';

/**
 * Keeps all of stdin in a file in `folder` that has no name, so that nothing is left of it whatever happens, and calls
 * `work` with what reads it from the beginning, as often as it is asked.
 */
export async function withStdin<T>(
  { stdin }: Surroundings,
  folder: string,
  work: (read: () => Readable) => Promise<T>,
): Promise<T> {
  const path = join(folder, `stdin-${randomUUID()}.tmp`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  try {
    for await (const chunk of stdin) await handle.write(Buffer.from(chunk));
    return await work(() => createReadStream('', { fd: handle.fd, start: 0, autoClose: false }));
  } finally {
    await handle.close();
  }
}

/** Writes all of `content` to stdout, as fast as its reader takes it. */
export async function writeToStdout(content: Readable, { stdout }: Surroundings): Promise<void> {
  await pipeline(content, stdout, { end: false });
}
