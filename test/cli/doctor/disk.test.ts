// `pulsegate doctor` on a full or nearly full disk.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkDisk, freeSpaceFinding } from '../../../src/cli/doctor/checks.js';

const MIB = 1024 * 1024;

test('warns below 512 MiB and fails below 16 MiB', () => {
  const state = (bytes: number) => freeSpaceFinding('/data', bytes).state;
  assert.deepEqual([512 * MIB, 512 * MIB - 1].map(state), ['ok', 'warn']);
  assert.deepEqual([16 * MIB, 16 * MIB - 1, 0].map(state), ['warn', 'stop', 'stop']);
  assert.equal(
    freeSpaceFinding('/data', 15.9 * MIB).text,
    '15 MiB free in /data: database writes will fail; free disk space',
  );
});

test('checks the disk of a data folder that does not exist yet', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-disk-'));
  t.after(() => rm(folder, { recursive: true }));
  const finding = await checkDisk(join(folder, 'not', 'yet'));
  assert.match(finding?.text ?? '', /^\d+ MiB free in /);
  assert.ok(finding?.text.includes(` in ${folder}`), finding?.text);
});
