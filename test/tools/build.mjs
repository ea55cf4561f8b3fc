// Builds what has changed since it was built last: the program and its tests by tsc, the console by Vite. What a part is
// built from is known by its content, so a fresh checkout or another branch builds what differs and no more.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONSOLE = 'src/console';

const parts = [
  {
    name: 'program',
    result: 'dist/src/cli.js',
    inputs: ['tsconfig.json', 'package-lock.json', 'src', 'test'],
    isInput: (file) => file.endsWith('.ts') && !file.startsWith(`${CONSOLE}/`),
    build: ['tsc', '-p', 'tsconfig.json'],
  },
  {
    name: 'console',
    result: 'dist/console/index.html',
    inputs: ['package-lock.json', CONSOLE],
    isInput: () => true,
    build: ['vite', 'build', '--config', 'src/console/vite.config.ts', '--logLevel', 'warn'],
  },
];

for (const { name, result, inputs, isInput, build } of parts) {
  const stamp = `dist/.built-${name}`;
  const content = contentOf(inputs, isInput);
  if (existsSync(result) && existsSync(stamp) && readFileSync(stamp, 'utf8') === content) continue;
  const [program, ...args] = build;
  try {
    execFileSync(join('node_modules/.bin', program), args, { stdio: 'inherit' });
  } catch {
    process.exit(1); // The program has said what is wrong.
  }
  mkdirSync('dist', { recursive: true });
  writeFileSync(stamp, content);
}

/** One hash over the names and contents of these files and of all that is in these folders. */
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
