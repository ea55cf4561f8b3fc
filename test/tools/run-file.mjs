// Runs one compiled test file in its own process and temporary folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { endOfProcessesIn } from '../../dist/test/helpers/processes.js';

/**
 * Creates `folder`, runs `compiled` with it as TMPDIR, and removes it. The file fails when a test fails, when it does not end in
 * time, and when a process is left running, which is then killed.
 * Returns `{ failed, seconds, cpuSeconds, output }`. The CPU time includes that of daemons and commands; it is 0 without /proc.
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
  // Runs before the pipes are closed: a process that is left running may keep them open.
  const leftOver = await endOfProcessesIn(folder);
  for (const { pid, command } of leftOver)
    chunks.push(Buffer.from(`\n✖ process ${pid} was left running: ${command}\n`));
  await closed;
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return {
    failed: code !== 0 || leftOver.length > 0,
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds,
    output: Buffer.concat(chunks).toString(),
  };
}

/** User and system time of all ended children and of their children, in hundredths of a second (`proc_pid_stat(5)`). */
let lastTicks = endedChildrenTicks();

/** Returns the CPU time of the child that has just ended: the growth of the sum since the last call. */
function takeCpuSeconds() {
  const before = lastTicks;
  lastTicks = endedChildrenTicks();
  return (lastTicks - before) / 100;
}

function endedChildrenTicks() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return Number(fields[13]) + Number(fields[14]);
  } catch {
    return 0;
  }
}
