// Runs one compiled test file in a process and a temporary folder of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { endOfProcessesIn } from '../../dist/test/helpers/processes.js';

/**
 * Runs `compiled` with `folder`, which is made and removed, as its TMPDIR. It fails when a test fails, when it does not end
 * in time, and when a process is left over: that one is killed.
 * Returns `{ failed, seconds, cpuSeconds, output }`; the CPU is that of its daemons and commands too, and 0 where there is no /proc.
 */
export async function runFile(compiled, folder, timeoutMs) {
  mkdirSync(folder);
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--test-reporter=spec', compiled], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const timer = setTimeout(() => {
    chunks.push(Buffer.from(`\n✖ not done after ${timeoutMs / 1000} s\n`));
    child.kill('SIGKILL');
  }, timeoutMs);
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  const cpuSeconds = takeCpuSeconds();
  clearTimeout(timer);
  // Before the pipes are closed: a process that is left over may hold them.
  const leftOver = await endOfProcessesIn(folder);
  for (const { pid, command } of leftOver)
    chunks.push(Buffer.from(`\n✖ process ${pid} was left over: ${command}\n`));
  await closed;
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return {
    failed: code !== 0 || leftOver.length > 0,
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds,
    output: Buffer.concat(chunks).toString(),
  };
}

/** User and system time of the children that have ended, and of theirs; `proc_pid_stat(5)`, in hundredths of a second. */
let taken = endedChildrenTicks();

/** What the child that has just ended has used: what has come to the sum since the last one. */
function takeCpuSeconds() {
  const before = taken;
  taken = endedChildrenTicks();
  return (taken - before) / 100;
}

function endedChildrenTicks() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return Number(fields[13]) + Number(fields[14]);
  } catch {
    return 0;
  }
}
