// Runs compiled test files one after another in a process that several files share (host.mjs): modules are loaded once, and
// commands run in one more process (test/helpers/command.ts). Each file has its own temporary folder.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endOfProcessesIn } from '../../dist/test/helpers/processes.js';

const HOST = 'test/tools/host.mjs';
const REPORTER = './test/tools/host-reporter.mjs';
/** A process that runs this many files is replaced by a new one: what files leave behind does not add up. */
const MOST_FILES = 40;

/**
 * Starts a process that runs files.
 * @param folder where it keeps the temporary folders of the files. It is created, and removed at the end
 */
export function startHost(folder) {
  mkdirSync(folder);
  const child = fork(HOST, [], {
    execArgv: [`--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout'],
    env: { ...process.env, TMPDIR: folder, TEST_TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit');
  // The event 'close' of the process itself does not come after `disconnect`.
  const closed = Promise.all([child.stdout, child.stderr].map((stream) => once(stream, 'close')));
  let chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  let files = 0;
  let isUsable = true;

  const takeOutput = () => {
    const output = Buffer.concat(chunks).toString();
    chunks = [];
    return output;
  };

  return {
    /** Whether it can run one more file. */
    isUsable: () => isUsable && files < MOST_FILES,

    /**
     * The file fails when a test fails, when it does not end in time, and when it leaves a process or an open handle behind. Then
     * this process runs no more files.
     * Returns `{ failed, seconds, cpuSeconds, tests, skipped, output }`. The CPU time includes that of daemons; it is that of the
     * process alone without /proc.
     */
    async run(compiled, timeoutMs) {
      files += 1;
      const own = join(folder, String(files));
      mkdirSync(own);
      const startedAt = performance.now();
      const timer = setTimeout(() => {
        chunks.push(Buffer.from(`\n✖ not done after ${timeoutMs / 1000} s\n`));
        child.kill('SIGKILL');
      }, timeoutMs);
      child.send({ compiled, env: { TEST_POSTGRES_FOLDER: process.env.TEST_POSTGRES_FOLDER, TMPDIR: own } });
      const [answer] = await Promise.race([once(child, 'message'), ended]);
      clearTimeout(timer);
      const result =
        typeof answer === 'object' && answer !== null
          ? answer
          : {
              failed: true,
              cpuSeconds: 0,
              tests: 0,
              skipped: 0,
              output: `\n✖ the process ended with ${answer}\n`,
            };
      // Runs before the pipes are closed: a process that is left running may keep them open.
      const leftOver = await endOfProcessesIn(own);
      for (const { pid, command } of leftOver)
        chunks.push(Buffer.from(`\n✖ process ${pid} was left running: ${command}\n`));
      rmSync(own, { recursive: true, force: true, maxRetries: 3 });
      const failed = result.failed || leftOver.length > 0;
      isUsable = !failed;
      const seconds = (performance.now() - startedAt) / 1000;
      return { ...result, failed, seconds, output: result.output + takeOutput() };
    },

    /** Ends the process. Returns what is wrong with its end: the empty string when nothing is. */
    async end() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
      const [code, signal] = await ended;
      clearTimeout(timer);
      const leftOver = await endOfProcessesIn(folder);
      await closed;
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      if (!isUsable || (code === 0 && leftOver.length === 0)) return '';
      const left = leftOver.map(({ pid, command }) => `✖ process ${pid} was left running: ${command}\n`);
      return `${takeOutput()}\n✖ a process of test files ended with ${code ?? signal}\n${left.join('')}`;
    },
  };
}

/** Returns the CPU time of all ended children and of their children, in seconds (`proc_pid_stat(5)`); 0 without /proc. */
export function endedChildrenSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
