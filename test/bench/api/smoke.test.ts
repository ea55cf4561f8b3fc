// `npm run bench -- api` at a hundredth of its size: the table has every row, and each row has numbers of any size.
// Only by name: it tests the benchmark, not the daemon.
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

test('the benchmark of the API measures every row', { skip: !hasCompiler }, async (t) => {
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
  for (const expected of [
    /list of all 100 /,
    /list of all 1,000 /,
    /first page/,
    /by its id/,
    /added/,
    /changed/,
  ])
    assert.ok(
      measures.some((measure) => expected.test(measure)),
      `${expected}`,
    );
  for (const expected of [
    /login \+ CONNECT, 1,000 accounts/,
    /login \+ CONNECT \+ echo .* 6 players/,
    /download, 2 flows each/,
    /UDP echo, .* 6 players/,
    /20,000\/s/,
    /as the disk accepts/,
    /accepted, the run/,
    /accepted and executed/,
  ])
    assert.ok(
      measures.some((measure) => expected.test(measure)),
      `${expected}`,
    );
  for (const { measure, server, medians, loads } of results) {
    assert.ok(stdout.includes(measure) && stdout.includes(server), measure);
    assert.equal(loads.length, 1);
    for (const [name, value] of Object.entries(medians))
      assert.ok(Number.isFinite(value), `${measure}: ${name}`);
  }
});

test('the benchmark refuses an unknown option', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'api', '--faster']);
  await assert.rejects(failed, /--faster/);
});
