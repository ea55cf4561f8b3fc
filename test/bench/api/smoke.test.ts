// `npm run bench -- api` at a hundredth of its size: every row is there, with numbers. What they are is not for a test.
// Only by name: it tries the benchmark, not the daemon.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findProgram } from '../../helpers/programs.js';

const MAIN = join(import.meta.dirname, '../main.js');
const hasCompiler = ['cc', 'gcc', 'clang'].some((name) => findProgram(name));

test('every row of the benchmark of the API is measured', { skip: !hasCompiler }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-bench-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const json = join(folder, 'all.json');
  const options = ['--repeats', '1', '--scale', '0.01', '--json', json];
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'api', ...options]);
  const { machine, results } = JSON.parse(await readFile(json, 'utf8')) as {
    machine: { node: string };
    results: { measure: string; server: string; medians: Record<string, number>; loads: number[] }[];
  };
  assert.equal(machine.node, process.versions.node);
  const measures = [...new Set(results.map(({ measure }) => measure))];
  for (const what of [
    /list of all 100 /,
    /list of all 1,000 /,
    /first page/,
    /by its id/,
    /added/,
    /changed/,
  ])
    assert.ok(
      measures.some((measure) => what.test(measure)),
      `${what}`,
    );
  for (const what of [
    /login \+ CONNECT, 1,000 accounts/,
    /login \+ CONNECT \+ echo .* 6 players/,
    /download, 2 flows each/,
    /UDP echo, .* 6 players/,
    /20,000\/s/,
    /as the disk takes/,
    /accepted, the run/,
    /run and ended/,
  ])
    assert.ok(
      measures.some((measure) => what.test(measure)),
      `${what}`,
    );
  for (const { measure, server, medians, loads } of results) {
    assert.ok(stdout.includes(measure) && stdout.includes(server), measure);
    assert.equal(loads.length, 1);
    for (const [name, value] of Object.entries(medians))
      assert.ok(Number.isFinite(value), `${measure}: ${name}`);
  }
});

test('an option that there is not is refused', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'api', '--faster']);
  await assert.rejects(failed, /--faster/);
});
