// The load balancers of etc/fleet.md. They run with the files of the guide; only addresses and ports differ.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT } from './daemon.js';
import { findProgram } from './programs.js';

/** The texts of the guide, and their replacements. */
export type Replacements = Readonly<Record<string, string>>;

/**
 * Returns a file of the guide with other addresses.
 * @param comment the beginning of the comment in its first line: a path
 * @throws when the file does not contain an address of `replacements`
 */
export async function documentedConfig(comment: string, replacements: Replacements): Promise<string> {
  const guide = await readFile(join(PROJECT, 'etc/fleet.md'), 'utf8');
  const block = [...guide.matchAll(/^```\w+\n(# [^\n]*\n[\s\S]*?)^```$/gm)]
    .map(([, text = '']) => text)
    .find((text) => text.startsWith(`# ${comment}`));
  if (block === undefined) throw new Error(`etc/fleet.md has no block that begins with # ${comment}`);
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${comment} in etc/fleet.md has no ${from}`);
    return text.replaceAll(from, to);
  }, block);
}

export interface Balancer {
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  /** Stops the process immediately. */
  stop(): Promise<void>;
}

/** Starts haproxy in the foreground with a configuration file in `folder`. */
export async function startHaproxy(folder: string, name: string, config: string): Promise<Balancer> {
  const file = join(folder, `${name}.cfg`);
  await writeFile(file, config);
  return start('haproxy', ['-db', '-q', '-f', file], folder);
}

export async function startNginx(folder: string, config: string): Promise<Balancer> {
  const file = join(folder, 'nginx.conf');
  const settings = `daemon off; master_process off; error_log stderr; pid ${folder}/nginx.pid;\n`;
  await writeFile(file, settings + config);
  return start('nginx', ['-c', file], folder);
}

function start(program: string, args: readonly string[], cwd: string): Balancer {
  const child: ChildProcess = spawn(findProgram(program) ?? program, args, { cwd, stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
