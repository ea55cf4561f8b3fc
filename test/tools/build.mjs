// Builds the parts that have changed since the last build: the program with Rolldown, the tests and the modules that they import
// with tsc, the console and the player page with Vite. Builds every part, or those named (`node test/tools/build.mjs program
// console`).
// A hash of the content shows whether a part has changed, so a fresh checkout or another branch builds only the parts that differ.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONSOLE = 'src/console';
const BUNDLE = 'test/tools/rolldown.config.mjs';
/** By its path: `tsc` in .bin is that of the older compiler, whose API dependency-cruiser needs. */
const TSC = '../typescript7/bin/tsc';

const isProgramSource = (file) => file.endsWith('.ts') && !file.startsWith(`${CONSOLE}/`);
const parts = {
  program: {
    result: 'dist/program/cli.js',
    inputs: [BUNDLE, 'package-lock.json', 'src'],
    isInput: isProgramSource,
    build: ['rolldown', '--config', BUNDLE],
    // Rolldown lists its output files on stdout. It reports errors on stderr.
    stdout: 'ignore',
  },
  tests: {
    result: 'dist/src/cli.js',
    inputs: ['tsconfig.json', 'package-lock.json', 'src', 'test'],
    isInput: isProgramSource,
    build: [TSC, '-p', 'tsconfig.json'],
  },
  console: {
    result: 'dist/console/index.html',
    inputs: ['package-lock.json', CONSOLE],
    isInput: () => true,
    build: ['vite', 'build', '--config', 'src/console/vite.config.ts', '--logLevel', 'warn'],
  },
  player: {
    result: 'dist/player/index.html',
    inputs: ['package-lock.json', CONSOLE],
    isInput: () => true,
    build: [
      'vite',
      'build',
      '--config',
      'src/console/vite.config.ts',
      '--mode',
      'player',
      '--logLevel',
      'warn',
    ],
  },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
mkdirSync('dist', { recursive: true });
if (names.some((name) => parts[name].inputs.includes(CONSOLE)))
  execFileSync(process.execPath, ['test/tools/api-types.mjs'], { stdio: 'inherit' });
const built = await Promise.all(names.map((name) => build(name, parts[name])));
process.exit(built.every(Boolean) ? 0 : 1);

/** Resolves with whether the part is built. The build program itself reports errors. */
async function build(name, { result, inputs, isInput, build: [program, ...args], stdout = 'inherit' }) {
  const stamp = `dist/.built-${name}`;
  const content = contentOf(inputs, isInput);
  if (existsSync(result) && existsSync(stamp) && readFileSync(stamp, 'utf8') === content) return true;
  // A failed build may have replaced some of the results.
  rmSync(stamp, { force: true });
  const child = spawn(join('node_modules/.bin', program), args, { stdio: ['ignore', stdout, 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code === 0) writeFileSync(stamp, content);
  return code === 0;
}

/** Returns one hash of the names and contents of these files and of all files in these folders. */
function contentOf(paths, isInput) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) =>
    statSync(path).isDirectory() ? filesIn(path, isInput) : [path],
  )) {
    const content = readFileSync(file);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesIn(folder, isInput) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter(isInput)
    .sort();
}
