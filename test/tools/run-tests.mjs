// Runs the compiled tests: all, or those whose path contains one of the arguments (`node test/tools/run-tests.mjs config cli`).
// The list is made from the sources, so that what an earlier build left behind is not run.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** For one file: a test that hangs must not hang everything. */
const TIMEOUT_MS = 600_000;

const filters = process.argv.slice(2);
const files = readdirSync('test', { recursive: true })
  .filter(
    (file) =>
      file.endsWith('.test.ts') && (filters.length === 0 || filters.some((filter) => file.includes(filter))),
  )
  .map((file) => `dist/test/${file.replace(/\.ts$/, '.js')}`)
  .sort();
if (files.length === 0) {
  console.error('no tests found');
  process.exit(1);
}
const concurrency = Math.max(2, availableParallelism());
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${TIMEOUT_MS}`, ...files],
  {
    stdio: 'inherit',
  },
);
process.exit(status ?? 1);
