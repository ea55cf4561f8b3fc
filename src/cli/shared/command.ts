// Shared by all commands: standard streams and environment, loading the configuration, and the error type.
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Loaded } from '../../config.js';

/** The standard streams and environment of a command; `process` outside tests. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined; setRawMode?: (raw: boolean) => unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
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

/** Registers commands with the program. */
export type AddCommands = (program: Command, io: CommandIo) => void;

/** Loads the configuration for a command, with the program's `--config`. */
export async function load(command: Command, io: CommandIo): Promise<Loaded> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  // Imported here because help and completion need neither zod nor yaml.
  const { loadConfig } = await import('../../config.js');
  return loadConfig({ file: config, env: io.env });
}

export function printLine(to: Writable, text: string): void {
  to.write(`${text}\n`);
}

export function printJson(io: CommandIo, value: unknown): void {
  printLine(io.stdout, JSON.stringify(value, null, 2));
}
