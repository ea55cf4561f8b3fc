// Keeps the compiled code of the whole program (load.js), for services that may not write beside it: their starts, and so the pause of
// sessions at a restart, are shorter. Root runs it after an installation or an upgrade, and after another version of Node was installed.
'use strict';

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { PassThrough } = require('node:stream');
const load = require('./load.js');

async function keepCode() {
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-keep-'));
  const file = join(folder, 'pulsegate.yaml');
  writeFileSync(file, '');
  const silent = () => new PassThrough().resume();
  const io = { stdin: silent(), stdout: silent(), stderr: silent(), env: { PULSEGATE_DATA_DIR: folder } };
  try {
    // Loads what a start loads, and calls much of it. Whether this machine lacks something is not the question here.
    const program = require('../dist/program/cli.js');
    await program.main([process.execPath, __filename, 'serve', '--check', '--config', file], io);
    process.exitCode = 0;
    load.keepAll();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void keepCode();
