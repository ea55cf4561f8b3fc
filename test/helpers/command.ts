// Runs commands of the command line with a given folder, stdin and environment, and captures the output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { CommandRequest, CommandResult } from './command-host.js';
import { BIN, plainEnvironment, yamlOf } from './daemon.js';
import { databaseSection } from './database.js';
import type { Scope } from './suite.js';

export interface Result extends CommandResult {
  /** Returns stdout parsed as JSON. */
  json(): unknown;
}

export interface CommandLine {
  /** A temporary folder in which the commands run. Its `pulsegate.yaml` keeps the data in the subfolder `data`. */
  readonly folder: string;
  run(args: readonly string[], options?: RunOptions): Promise<Result>;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes a folder with a configuration. The end of the test or suite removes it. */
export async function commandLine(t: Scope, config = ''): Promise<CommandLine> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-cli-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const database = config.includes('database:') ? {} : await databaseSection(join(folder, 'data'));
  const section = Object.keys(database).length === 0 ? '' : `\n${yamlOf({ database })}`;
  await writeFile(join(folder, 'pulsegate.yaml'), `dataDir: data\n${config}${section}`);
  return { folder, run: (args, options) => runCommand(folder, args, options) };
}

/**
 * Runs one command in `folder`, with an empty stdin unless given. Commands share one long-lived process, which makes each ten times
 * as fast. `serve` needs its own process and gets one.
 */
export async function runCommand(
  folder: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Result> {
  if (args[0] === 'serve') return runProcess(folder, args, options);
  const { stdin = '', env = {} } = options;
  return withJson(await askHost({ cwd: folder, args, stdin, env: { ...plainEnvironment(), ...env } }));
}

/** Runs one command in `folder` in its own process. */
export async function runProcess(
  folder: string,
  args: readonly string[],
  { stdin = '', env = {} }: RunOptions = {},
): Promise<Result> {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...plainEnvironment(), ...env },
  });
  // A command that does not read its stdin may end before the write.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return withJson({ code: child.exitCode, stdout, stderr });
}

function withJson(result: CommandResult): Result {
  return { ...result, json: () => JSON.parse(result.stdout) as unknown };
}

interface Host {
  hasEnded(): boolean;
  ask(request: CommandRequest): Promise<CommandResult>;
}

/** Not that of a test file, which must leave no process behind. */
const FOLDER_AT_START = process.env['TEST_TMPDIR'] ?? tmpdir();

let host: Host | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Runs one command after another in the shared process. */
function askHost(request: CommandRequest): Promise<CommandResult> {
  const result = last.then(() => {
    if (!host || host.hasEnded()) host = startHost();
    return host.ask(request);
  });
  last = result.catch(() => undefined);
  return result;
}

/**
 * The shared process ends when this process ends, after several test files: each command has the temporary folder of its own file.
 * Between commands it does not keep this process from ending.
 */
function startHost(): Host {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'command-host.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...plainEnvironment(), TMPDIR: FOLDER_AT_START },
  });
  const lines = createInterface({ input: child.stdout });
  const handles = [child, child.stdin, child.stdout] as readonly { ref?(): void; unref?(): void }[];
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async ask(request) {
      for (const handle of handles) handle.ref?.();
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const answered = new AbortController();
      const answer = await Promise.race(
        [once(lines, 'line', answered), once(child, 'exit', answered)].map((each) => each.catch(() => [])),
      );
      answered.abort();
      for (const handle of handles) handle.unref?.();
      if (typeof answer[0] !== 'string') throw new Error(`the command ended its process with ${answer[0]}`);
      return JSON.parse(answer[0]) as CommandResult;
    },
  };
}
