// The reporter of host.mjs: divides the events of the process's tests into those of each file, and prints nothing but what comes
// after the last file.
import { spec } from 'node:test/reporters';

/** Ends a file. Its name is that of a test which the host adds. */
let current = null;

/** Returns the result of the file that begins now: `{ tests, skipped, failures, output }`, when its last test has ended. */
export function nextFile(lastTest) {
  return new Promise((resolve) => {
    current = { lastTest, tests: 0, skipped: 0, failures: 0, report: new spec(), resolve };
  });
}

export default async function* report(events) {
  const rest = new spec();
  for await (const event of events) {
    if (current === null) rest.write(event);
    else if (isEnd(event)) await end();
    else if (event.data.name !== current.lastTest) note(event);
  }
  rest.end();
  yield* rest;
}

function isEnd({ type, data }) {
  return type === 'test:pass' && data.nesting === 0 && data.name === current.lastTest;
}

function note(event) {
  const { type, data } = event;
  current.report.write(event);
  if (type !== 'test:pass' && type !== 'test:fail') return;
  if (type === 'test:fail' && data.todo === undefined) current.failures += 1;
  if (data.details.type === 'suite') return;
  current.tests += 1;
  if (data.skip !== undefined) current.skipped += 1;
}

async function end() {
  const { resolve, report, tests, skipped, failures } = current;
  current = null;
  report.end();
  const chunks = await report.toArray();
  resolve({ tests, skipped, failures, output: chunks.map(String).join('') });
}
