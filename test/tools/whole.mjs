// `npm test`: everything is built, checked meanwhile, and all tests run as soon as they can: what one of the three does not
// use of the processors the others do. Each must pass; what the checks said is printed at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const checks = start('npm', ['run', '--silent', 'lint'], ['ignore', 'pipe', 'pipe']);
const said = [];
for (const stream of [checks.stdout, checks.stderr]) stream.on('data', (chunk) => said.push(chunk));
const checked = once(checks, 'close');

const passed = (await ends(node('build.mjs'))) && (await ends(node('run-tests.mjs', process.argv.slice(2))));
const [code] = await checked;
process.stdout.write(Buffer.concat(said));
if (code !== 0) console.log('FAILED: npm run lint');
process.exit(passed && code === 0 ? 0 : 1);

function node(tool, args = []) {
  return start(process.execPath, [`test/tools/${tool}`, ...args], 'inherit');
}

function start(program, args, stdio) {
  return spawn(program, args, { stdio, shell: process.platform === 'win32' });
}

/** Whether it ends well. */
async function ends(child) {
  const [code] = await once(child, 'exit');
  return code === 0;
}
