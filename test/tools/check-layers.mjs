// Runs dependency-cruiser over src/. Fails on every violation of .dependency-cruiser.cjs, and when it has read fewer than nine in
// ten modules: a checker that reads nothing would otherwise always pass.
// Checks src/console by itself: it knows the daemon only by /api/v1, and imports packages and its own files.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LEAST_SHARE = 0.9;

const { stdout, stderr, status } = spawnSync(
  'node_modules/.bin/depcruise',
  ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'],
  { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
);
if (!stdout) {
  console.error(stderr || `depcruise could not run (${status})`);
  process.exit(1);
}
const { summary, modules } = JSON.parse(stdout);
const files = readdirSync('src', { recursive: true });
const sources = files.filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('console/'),
);
const foreign = files
  .filter((file) => /^console\/.*\.tsx?$/.test(file))
  .flatMap((file) => {
    const imports = readFileSync(join('src', file), 'utf8').matchAll(/(?:from|import) '(\.[^']*)'/g);
    return Array.from(imports, ([, path]) => [file, join(file, '..', path)]);
  })
  .filter(([, to]) => !to.startsWith('console/'));
for (const [from, to] of foreign)
  console.error(`error console-imports-its-own-files: src/${from} → src/${to}`);
const read = new Set(modules.map(({ source }) => source));
const missed = sources.filter((file) => !read.has(`src/${file}`));
const found = sources.length - missed.length;
for (const { rule, from, to } of summary.violations)
  console.error(`${rule.severity} ${rule.name}: ${from} → ${to}`);
if (found < sources.length * LEAST_SHARE) {
  console.error(`dependency-cruiser read ${found} of ${sources.length} modules of src/; not ${missed[0]} …`);
  process.exit(1);
}
if (summary.error > 0 || foreign.length > 0) process.exit(1);
console.log(
  `layers: ${found} of ${sources.length} modules, ${modules.length} with what they import, no breach`,
);
