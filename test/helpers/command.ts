// Runs commands of the command line as real processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BIN, plainEnvironment } from './daemon.js';
import type { Scope } from './suite.js';

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout as JSON. */
  json(): unknown;
}

export interface CommandLine {
  /** A temporary folder that the commands run in; its `pulsegate.yaml` keeps data in `data` below it. */
  readonly folder: string;
  run(args: readonly string[], options?: RunOptions): Promise<Result>;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder with a configuration of its own; removed when the test or suite ends. */
export async function commandLine(t: Scope, config = ''): Promise<CommandLine> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-cli-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'pulsegate.yaml'), `dataDir: data\n${config}`);
  return { folder, run: (args, options) => runCommand(folder, args, options) };
}

/** Runs one command in `folder`, with nothing on stdin unless given. */
export async function runCommand(
  folder: string,
  args: readonly string[],
  { stdin = '', env = {} }: RunOptions = {},
): Promise<Result> {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...plainEnvironment(), ...env },
  });
  // A command that does not read its stdin may be gone before we have written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}
