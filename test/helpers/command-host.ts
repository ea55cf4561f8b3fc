// Runs commands of the command line one after another in one process, for command.ts: a request a line on stdin, a result
// a line on stdout. It spares each command the start of Node and the reading of every module.
import { writeSync } from 'node:fs';
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

/** What a command writes; read as text once it has ended. */
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

// The built program, as `bin/pulsegate.js` starts it.
const { main } = (await import(
  new URL('../../program/cli.js', import.meta.url).href
)) as typeof import('../../src/cli.js');

let running: { stdout: Written; stderr: Written } | null = null;

// A command that ends the process ends with that code.
process.on('exit', (code) => finish(code));

for await (const line of createInterface({ input: process.stdin })) {
  const { cwd, args, stdin, env }: CommandRequest = JSON.parse(line);
  running = { stdout: new Written(), stderr: new Written() };
  process.chdir(cwd);
  process.exitCode = 0;
  await main(['node', 'pulsegate', ...args], { ...running, stdin: Readable.from([Buffer.from(stdin)]), env });
  // Whoever is found in the folder of a daemon that was killed is killed too.
  process.chdir('/');
  finish(Number(process.exitCode));
}

function finish(code: number): void {
  if (!running) return;
  const result: CommandResult = { code, stdout: running.stdout.text(), stderr: running.stderr.text() };
  running = null;
  writeSync(1, `${JSON.stringify(result)}\n`);
}
