// Shared by all commands: standard streams and environment, the error type, files, and the actor of changes.
import { userInfo } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Actor } from '../../core/audit/audit.js';
import { codeOf, tryOr } from '../../core/errors.js';
import type { Parcel } from '../serve/parcel.js';

/** The standard streams and environment of a command; `process` outside tests. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined; setRawMode?: (raw: boolean) => unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For `serve`: what bin/start.js has found. */
  readonly parcel?: Parcel;
}

/** A failed command. The message is printed to stderr unchanged. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param exitCode 1: failure; 2: wrong usage; 130: cancelled with Ctrl-C (128 + SIGINT) */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 | 130 = 1,
  ) {
    super(message);
  }
}

export const wrongUsage = (message: string): CommandError => new CommandError(message, 2);

/** Returns what a command has looked up. @param group whose `list` shows all @throws CommandError when it is missing */
export function found<Found extends object>(
  looked: Found | undefined | null,
  group: string,
  name: string,
  kind = group,
): Found {
  if (!looked) throw notFound(group, name, kind);
  return looked;
}

export const notFound = (group: string, name: string, kind = group): CommandError =>
  new CommandError(`No such ${kind}: ${JSON.stringify(name)}. See: pulsegate ${group} list`);

export function printLine(to: Writable, text: string): void {
  to.write(`${text}\n`);
}

export function printJson(io: CommandIo, value: unknown): void {
  printLine(io.stdout, JSON.stringify(value, null, 2));
}

/** For the audit log: the system user. */
export function cliActor(): Actor {
  // In a container the user may have no entry in /etc/passwd.
  const name = tryOr(`uid ${process.getuid?.() ?? '?'}`, () => userInfo().username);
  return { name, via: 'cli', address: null };
}

/** The name of a file: stdin for input, stdout for output. */
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
