// Runs dependency-cruiser over src/ and fails on any breach of .dependency-cruiser.cjs, and when it has read too little:
// a checker that finds no modules would otherwise pass for ever.
import { spawnSync } from 'node:child_process';

const LEAST_MODULES = 50;

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
const own = modules.filter(({ source }) => source.startsWith('src/')).length;
for (const { rule, from, to } of summary.violations)
  console.error(`${rule.severity} ${rule.name}: ${from} → ${to}`);
if (own < LEAST_MODULES) {
  console.error(
    `dependency-cruiser read only ${own} modules of src/; at least ${LEAST_MODULES} were expected`,
  );
  process.exit(1);
}
if (summary.error > 0) process.exit(1);
console.log(`layers: ${own} modules, ${modules.length} with what they import, no breach`);
