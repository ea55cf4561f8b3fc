// Runs the test files that run-file.mjs names, one after another, and answers with the result of each. node:test runs the tests of
// all files as those of one: the test that this file adds after those of a file runs when they have ended.
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { nextFile } from './host-reporter.mjs';
import { endedChildrenSeconds } from './run-file.mjs';

/** What may take so long to close after the last test. */
const CLOSE_TIMEOUT_MS = 15_000;
const POLL_MS = 5;
/** Connections are not among them: those to a daemon that was killed close when their collector finds them. */
const LASTING = new Set([
  'TCPServerWrap',
  'PipeServerWrap',
  'UDPWrap',
  'ProcessWrap',
  'MessagePort',
  'FSEventWrap',
]);

/** The name of the test that ends a file. */
const LAST_TEST = 'all tests of the file have ended';

process.on('message', async ({ compiled, env }) => {
  const before = cpuSeconds();
  Object.assign(process.env, env);
  const ended = nextFile(LAST_TEST);
  let problem = await import(pathToFileURL(compiled).href).then(
    () => '',
    (error) => `\n✖ ${error?.stack ?? error}\n`,
  );
  await test(LAST_TEST, () => {});
  const { failures, output, ...counts } = await ended;
  problem += await openHandles();
  // Set by node:test for an error after the end of its test.
  if (failures === 0 && process.exitCode)
    problem += `\n✖ an error after the end of a test; see the warnings at the end\n`;
  const failed = failures > 0 || problem !== '';
  process.send({ ...counts, failed, cpuSeconds: cpuSeconds() - before, output: output + problem });
});

// Connections that are still open must not keep this process from ending.
process.on('disconnect', () => process.exit());

/** Waits until the servers, processes and threads that the file started are gone. Returns those that are not. */
async function openHandles() {
  for (const startedAt = performance.now(); ; ) {
    const open = process.getActiveResourcesInfo().filter((name) => LASTING.has(name));
    if (open.length === 0) return '';
    if (performance.now() - startedAt > CLOSE_TIMEOUT_MS) return `\n✖ left open: ${open.join(', ')}\n`;
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS).unref();
    });
  }
}

/** Returns the time of this process and of its ended children. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + endedChildrenSeconds();
}
