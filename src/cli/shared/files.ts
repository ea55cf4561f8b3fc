// Files that commands read and write. The name `-` is stdin for input, stdout for output.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../core/errors.js';
import { CommandError, type CommandIo } from './command.js';

export const STDIO = '-';

/**
 * Copies stdin to an unlinked temporary file, which disappears when the process exits. Calls `work` with a function that opens the
 * copy from its beginning each time.
 */
export async function withStdin<T>(
  { stdin }: CommandIo,
  work: (read: () => Readable) => Promise<T>,
): Promise<T> {
  const path = join(tmpdir(), `stdin-${randomUUID()}.tmp`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  try {
    for await (const chunk of stdin) await handle.write(Buffer.from(chunk));
    return await work(() => createReadStream('', { fd: handle.fd, start: 0, autoClose: false }));
  } finally {
    await handle.close();
  }
}

/** Pipes `content` to stdout and waits until everything is written. */
export async function writeToStdout(content: Readable, { stdout }: CommandIo): Promise<void> {
  await pipeline(content, stdout, { end: false });
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'file exists. Choose another name',
  ENOENT: 'no such directory',
  EACCES: 'permission denied',
  ENOSPC: 'no space left on device',
};

/** @param what the content: `accounts`, `backup` */
export function cannotWrite(what: string, file: string, error: unknown): CommandError {
  const code = codeOf(error) ?? 'unknown reason';
  return new CommandError(`Cannot write ${what} to ${file}: ${REASONS[code] ?? code}.`);
}
