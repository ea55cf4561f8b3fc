// `npm test`: checks the sources during the build and the tests, so that all processors stay in use. The checks and the tests must
// pass. The output of the checks comes at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const checks = start('npm', ['run', '--silent', 'lint'], ['ignore', 'pipe', 'pipe']);
const output = [];
for (const stream of [checks.stdout, checks.stderr]) stream.on('data', (chunk) => output.push(chunk));
const checked = once(checks, 'close');

const passed = (await ends(node('build.mjs'))) && (await ends(node('run-tests.mjs', process.argv.slice(2))));
const [code] = await checked;
process.stdout.write(Buffer.concat(output));
if (code !== 0) console.log('FAILED: npm run lint');
process.exit(passed && code === 0 ? 0 : 1);

function node(tool, args = []) {
  return start(process.execPath, [`test/tools/${tool}`, ...args], 'inherit');
}

function start(program, args, stdio) {
  return spawn(program, args, { stdio, shell: process.platform === 'win32' });
}

/** Returns whether the program exits with 0. */
async function ends(child) {
  const [code] = await once(child, 'exit');
  return code === 0;
}
