// What every command shares: its surroundings, how it loads the configuration, and how it says that it failed.
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Override } from '../config/overrides.js';
import type { Loaded } from '../config.js';

/** The process as commands see it. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined; setRawMode?: (raw: boolean) => unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command that could not do what was asked: the message goes to stderr as it is. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param exitCode 1: it failed; 2: it was asked for in a wrong way; 130: it was left by Ctrl-C, as shells count SIGINT */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 | 130 = 1,
  ) {
    super(message);
  }
}

/** Adds a command's own parts to the program. */
export type AddCommands = (program: Command, around: Surroundings) => void;

/** Loads the configuration for a command, with the program's `--config` and what flags of the command set. */
export async function load(
  command: Command,
  around: Surroundings,
  flags: readonly Override[] = [],
): Promise<Loaded> {
  const { config } = command.optsWithGlobals<{ config?: string }>();
  // Only now: help and completion need neither zod nor yaml.
  const { loadConfig } = await import('../config.js');
  return loadConfig({ file: config, env: around.env, flags });
}

export function printLine(to: Writable, text: string): void {
  to.write(`${text}\n`);
}

export function printJson(around: Surroundings, value: unknown): void {
  printLine(around.stdout, JSON.stringify(value, null, 2));
}
