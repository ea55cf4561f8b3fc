// Files that commands read and write. The name `-` is stdin for input, stdout for output.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../core/errors.js';
import { CommandError, type CommandIo } from './command.js';

export const STDIO = '-';

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
