// The load generator: compiled with the system's C compiler, run once for each measurement.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { PROJECT } from '../helpers/daemon.js';
import { findProgram } from '../helpers/programs.js';
import type { Scope } from '../helpers/suite.js';

/** The route of a measurement: through a proxy, or directly to the target when `proxyPort` is 0. */
export interface Route {
  readonly proxyPort: number;
  /** Empty: no login. */
  readonly user: string;
  readonly password: string;
}

export type Numbers = Readonly<Record<string, number>>;

export interface Load {
  /** Starts a target that discards, sends or echoes bytes; resolves with its port. */
  target(t: Scope): Promise<number>;
  /** Runs one mode of socksbench; rejects with its error message when it failed. */
  run(mode: string, route: Route, target: number, options: readonly string[]): Promise<Numbers>;
}

/** Compiles socksbench.c into `folder`; without a compiler, throws an error that names the packages to install. */
export function buildLoad(folder: string): Load {
  const program = compile('test/bench/socksbench.c', folder);
  return {
    async target(t) {
      const server = spawn(program, ['serve', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
      t.after(() => {
        server.kill();
      });
      const [line] = await once(createInterface(server.stdout), 'line');
      return parse(String(line))['port'] ?? 0;
    },
    async run(mode, { proxyPort, user, password }, target, options) {
      const common = ['-p', String(proxyPort), '-t', String(target), '-u', user, '-k', password];
      const running = promisify(execFile)(program, [mode, ...common, ...options], { timeout: 180_000 });
      // A failed run writes its error to stdout.
      const { stdout } = await running.catch((error: { stdout?: string }) => {
        if (error.stdout) return { stdout: error.stdout };
        throw error;
      });
      return parse(stdout);
    },
  };
}

/** Compiles a C file of the project into `folder` and returns the program; throws as `buildLoad`. */
export function compile(source: string, folder: string): string {
  const compiler = findProgram('cc') ?? findProgram('gcc') ?? findProgram('clang');
  if (!compiler) {
    throw new Error(
      'The benchmark needs a C compiler for its load generator (on Debian: apt install gcc libc6-dev).',
    );
  }
  const program = join(folder, basename(source, '.c'));
  execFileSync(compiler, ['-O2', '-o', program, join(PROJECT, source)]);
  return program;
}

function parse(line: string): Numbers {
  const result = JSON.parse(line) as Numbers & { error?: string };
  if (result.error) throw new Error(`socksbench: ${result.error}`);
  return result;
}
