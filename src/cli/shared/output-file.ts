// The error for a file that a command cannot write.
import { codeOf } from '../../core/errors.js';
import { CommandError } from './command.js';

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
