// Runs commands of the command line one after another in one process, for command.ts: one request per line on stdin, one result per
// line on stdout. Thus Node does not start and read every module for each command.
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';

export interface CommandRequest {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Collects the output of a command, and returns it as text after the command ended. */
class Written extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

// Loads the built program, as `bin/pulsegate.js` does.
const { main } = createRequire(import.meta.url)('../../program/cli.js') as typeof import('../../src/cli.js');

let running: { stdout: Written; stderr: Written } | null = null;

// A command that exits the process ends with the code of that exit.
process.on('exit', (code) => finish(code));

for await (const line of createInterface({ input: process.stdin })) {
  const { cwd, args, stdin, env }: CommandRequest = JSON.parse(line);
  running = { stdout: new Written(), stderr: new Written() };
  process.chdir(cwd);
  process.env['TMPDIR'] = env['TMPDIR'] ?? tmpdir();
  process.exitCode = 0;
  await main(['node', 'pulsegate', ...args], { ...running, stdin: Readable.from([Buffer.from(stdin)]), env });
  // The cleanup of a killed daemon kills every process in the daemon's folder. This process must not be in such a folder.
  process.chdir('/');
  finish(Number(process.exitCode));
}

function finish(code: number): void {
  if (!running) return;
  const result: CommandResult = { code, stdout: running.stdout.text(), stderr: running.stderr.text() };
  running = null;
  writeSync(1, `${JSON.stringify(result)}\n`);
}
