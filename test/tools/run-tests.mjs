// Runs the compiled tests: all, or those whose path contains one of the arguments (`node test/tools/run-tests.mjs config cli`).
// The list is made from the sources, so that what an earlier build left behind is not run.
// A file that fails beside the others is run once more alone, and said to have needed it: on a busy machine a time limit
// can pass that is ample on a quiet one. What fails twice has failed.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

/** For one file: a test that hangs must not hang everything. */
const TIMEOUT_MS = 600_000;

const filters = process.argv.slice(2);
const files = readdirSync('test', { recursive: true })
  .filter(
    (file) =>
      file.endsWith('.test.ts') && (filters.length === 0 || filters.some((filter) => file.includes(filter))),
  )
  .map((file) => resolve('dist/test', file.replace(/\.ts$/, '.js')))
  .sort();
if (files.length === 0) {
  console.error('no tests found');
  process.exit(1);
}

const failed = await runFiles(files, Math.max(2, availableParallelism()));
const failedAlone = new Set();
for (const file of failed) {
  console.log(`\n${relative('.', file)} failed; once more, alone:\n`);
  for (const again of await runFiles([file], 1)) failedAlone.add(again);
}
for (const file of failed) {
  const verdict = failedAlone.has(file) ? 'FAILED TWICE' : 'passed only at the second try';
  console.log(`${verdict}: ${relative('.', file)}`);
}
process.exit(failedAlone.size > 0 ? 1 : 0);

/** Runs test files, so many at a time; returns those in which something failed. */
async function runFiles(list, concurrency) {
  const broken = new Set();
  const events = run({ files: list, concurrency, timeout: TIMEOUT_MS });
  events.on('test:fail', ({ file }) => {
    // A file that could not be run at all fails under no name of its own.
    for (const each of file && list.includes(file) ? [file] : list) broken.add(each);
  });
  const report = events.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
  return broken;
}
