// The command line: runs a command, and maps errors to exit codes.
// 0: success. 1: failure. 2: wrong usage or invalid configuration.
import { CommandError, type CommandIo } from './cli/shared/command.js';
import { ConfigError } from './config/config-error.js';
import { StartError } from './core/errors.js';
import { journalPrefix, toJournal } from './systemd/journal.js';

/** Runs the command in `argv` (as in process.argv) and sets the exit code of the process. */
export async function main(argv: readonly string[], io: CommandIo = process): Promise<void> {
  // `pulsegate account list | head` closes stdout early. That is not an error unless the command set an exit code.
  io.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1),
  );
  try {
    const file = io.parcel?.thread ? fileOfServe(argv) : null;
    if (file !== null) await (await import('./cli/serve/serve.js')).serve([], file, io);
    else await (await import('./cli/commands.js')).runCommand(argv, io);
  } catch (error) {
    process.exitCode = report(error, io);
  }
}

/**
 * Returns FILE of `serve --config FILE`, which is how services start the daemon; null: something else. After a restart sessions wait, and
 * the options of all commands need not be loaded for it.
 */
function fileOfServe([, , command, option, file, ...others]: readonly string[]): string | null {
  const isPlain = command === 'serve' && option === '--config' && others.length === 0;
  return isPlain && file && !file.startsWith('-') ? file : null;
}

/** Prints the error to stderr and returns the exit code. */
function report(error: unknown, { stderr }: CommandIo): number {
  const prefix = toJournal(2) ? journalPrefix('error') : '';
  stderr.write(`${prefix}${messageOf(error).replaceAll('\n', `\n${prefix}`)}\n`);
  if (error instanceof ConfigError) return 2;
  return error instanceof CommandError ? error.exitCode : 1;
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConfigError || error instanceof CommandError || error instanceof StartError)
    return message;
  // A thread or a process could not be started (pthread_create(3), fork(2)).
  const advice = /\bEAGAIN\b/.test(message)
    ? '; raise the limit of threads (TasksMax=, ulimit -u), or of address space (LimitAS=, ulimit -v) to 4 GiB or more'
    : '';
  return `Unexpected error: ${message}${advice}`;
}
