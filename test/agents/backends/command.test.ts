// Command agents: the input of a program, its reply, and the end of all its processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCommandAgent } from '../../../src/agents/backends/command.js';
import type { AgentInput } from '../../../src/core/agents/runs.js';
import { eventually } from '../../helpers/eventually.js';

const input: AgentInput = {
  kind: 'message',
  runId: '01900000-0000-7000-8000-000000000001',
  agent: 'a',
  session: 's',
  message: 'hello "$(date)" `id` 你好',
  history: [{ role: 'user', content: 'before' }],
  attempt: 2,
};

let runs = 0;
/** Runs `command` once, with a new run id. */
function start(command: readonly string[], over: Partial<Parameters<typeof createCommandAgent>[0]> = {}) {
  const groups = new Set<number>();
  const abort = new AbortController();
  const runId = `01900000-0000-7000-8000-${String(process.pid * 1000 + ++runs).padStart(12, '0')}`;
  const agent = createCommandAgent({
    cwd: process.cwd(),
    inputFolder: tmpdir(),
    command,
    env: { PATH: process.env['PATH'] ?? '' },
    maxReplyBytes: 1024,
    killAfterMs: 300,
    groups,
    ...over,
  });
  return { abort, runId, groups, output: agent.run({ ...input, runId }, abort.signal) };
}

const run = (command: readonly string[], over?: Parameters<typeof start>[1]) => start(command, over).output;
const sh = (script: string) => ['sh', '-c', script];

/** Returns the commands of the live processes whose environment contains the run id. */
function commandsOf(runId: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(runId)) return [];
        // A zombie has no executable file.
        readlinkSync(`/proc/${pid}/exe`);
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1')];
      } catch {
        return [];
      }
    });
}

/** Resolves when no process of the run lives. The kernel may need a moment to end killed processes. */
const endOfProcesses = (runId: string) => eventually(() => commandsOf(runId).length === 0);

test('the program gets the input as one JSON object on stdin', async () => {
  const output = await run(['cat']);
  assert.ok(output.ok);
  const { runId: _, ...received } = JSON.parse(output.reply);
  const { runId: __, ...expected } = input;
  assert.deepEqual(received, expected);
});

test('the program gets its whole input when the daemon is killed as soon as it has started the program', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'input');
  const message = 'x'.repeat(1_000_000);
  // Nothing runs between the start of the program and the kill.
  const daemon = `
    import { createCommandAgent } from ${JSON.stringify(import.meta.resolve('../../../src/agents/backends/command.js'))};
    const command = ['sh', '-c', 'cat > "$0.part"; mv "$0.part" "$0"', ${JSON.stringify(file)}];
    const agent = createCommandAgent({ command, cwd: '/', inputFolder: ${JSON.stringify(tmpdir())}, env: process.env, maxReplyBytes: 1024, killAfterMs: 300, groups: new Set() });
    agent.run({ ...${JSON.stringify(input)}, message: 'x'.repeat(${message.length}) }, new AbortController().signal);
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', daemon], { stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  await eventually(() => existsSync(file));
  assert.equal((JSON.parse(await readFile(file, 'utf8')) as AgentInput).message, message);
});

test('the program gets its arguments unchanged, without a shell', async () => {
  const output = await run(['printf', '%s|', '$HOME', '; echo no', '`id`', '*', '']);
  assert.deepEqual(output, { ok: true, reply: '$HOME|; echo no|`id`|*||' });
});

test('the environment contains the configured variables and those of the run, and no others', async () => {
  process.env['PULSEGATE_TEST_LEAK'] = 'leaked';
  const { output, runId } = start(['env'], { env: { PATH: process.env['PATH'] ?? '', TOKEN: 'x y' } });
  const result = await output;
  assert.ok(result.ok);
  assert.deepEqual(result.reply.split('\n').sort(), [
    `PATH=${process.env['PATH']}`,
    'PULSEGATE_AGENT=a',
    'PULSEGATE_ATTEMPT=2',
    'PULSEGATE_KIND=message',
    `PULSEGATE_RUN_ID=${runId}`,
    'PULSEGATE_SESSION=s',
    'TOKEN=x y',
  ]);
});

test('the program runs in the configured folder', async (t) => {
  const folder = await temporaryFolder(t);
  assert.deepEqual(await run(['pwd'], { cwd: folder }), { ok: true, reply: folder });
});

const failures: readonly [string, readonly string[], RegExp][] = [
  ['an exit status other than 0', sh('echo half a reply; exit 3'), /^exit status 3$/],
  [
    'a message on stderr',
    sh('echo "no \u001b[31mdatabase" >&2; exit 1'),
    /^exit status 1: no \[31mdatabase$/,
  ],
  ['the end of a long stderr', sh('seq 100000 >&2; exit 1'), /99999 100000$/],
  ['a program that is not found', ['no-such-program'], /no-such-program was not found/],
  ['a folder instead of a program', ['/tmp'], /permission denied/],
  ['a signal', sh('kill -SEGV $$'), /ended by SIGSEGV/],
  ['a reply one byte too long', sh('head -c 1025 /dev/zero | tr "\\0" x'), /longer than 1024 bytes/],
  ['an endless reply', ['yes'], /longer than 1024 bytes/],
];
for (const [name, command, error] of failures) {
  test(`a run fails with a reason: ${name}`, async () => {
    const output = await run(command);
    assert.ok(!output.ok);
    assert.match(output.error, error);
    assert.ok(output.error.length < 700);
  });
}

test('a run fails if its folder does not exist', async () => {
  const output = await run(['true'], { cwd: '/no/such/folder' });
  assert.ok(!output.ok && /folder/.test(output.error));
});

test('a reply may be as long as the limit, also in many small writes', async () => {
  const output = await run(sh('for i in $(seq 128); do printf 12345678; done'));
  assert.ok(output.ok && output.reply.length === 1024);
});

test('a reply loses one line break at its end, and U+0000 is replaced', async () => {
  assert.deepEqual(await run(sh('printf "a\\n\\n"')), { ok: true, reply: 'a\n' });
  assert.deepEqual(await run(sh('printf "a\\0b"')), { ok: true, reply: 'a\ufffdb' });
});

test('a program may leave a long input unread', async () => {
  const agent = createCommandAgent({
    cwd: process.cwd(),
    inputFolder: tmpdir(),
    command: ['echo', 'done'],
    env: {},
    maxReplyBytes: 1024,
    killAfterMs: 300,
    groups: new Set(),
  });
  const output = await agent.run({ ...input, message: 'x'.repeat(4_000_000) }, new AbortController().signal);
  assert.deepEqual(output, { ok: true, reply: 'done' });
});

test('a program may end by itself after SIGTERM', async (t) => {
  const isReady = join(await temporaryFolder(t), 'ready');
  const { abort, output, groups } = start(
    sh(`trap "echo bye; exit 0" TERM; echo > '${isReady}'; while :; do sleep 0.05; done`),
    // Long enough for a busy machine.
    { killAfterMs: 60_000 },
  );
  await eventually(() => existsSync(isReady));
  assert.equal(groups.size, 1);
  abort.abort('cancelled');
  assert.deepEqual(await output, { ok: true, reply: 'bye' });
  assert.equal(groups.size, 0);
});

const stubbornScripts: readonly [name: string, script: string, sleeps: number][] = [
  ['a program that ignores SIGTERM', 'trap "" TERM; sleep 1000', 1],
  ['children in the process group', 'sleep 1000 & sleep 1000 & sleep 1000', 3],
  ['grandchildren that ignore SIGTERM', '(trap "" TERM; sleep 1000 & sleep 1000) & wait', 2],
  ['a child in another process session', 'setsid sleep 1000 & sleep 1000', 2],
  ['a grandchild in another process session', 'setsid sh -c "sleep 1000 & sleep 1000" & sleep 1000', 3],
];
for (const [name, script, sleeps] of stubbornScripts) {
  test(`an abort ends all processes of a run: ${name}`, async () => {
    const { abort, output, runId } = start(sh(script));
    await eventually(
      () => commandsOf(runId).filter((command) => command.startsWith('sleep')).length === sleeps,
    );
    abort.abort('timeout');
    await output;
    await endOfProcesses(runId);
  });
}

test('a run ends with its program, and ends the other processes of the group', {
  timeout: 300_000,
}, async () => {
  const { output, runId } = start(sh('sleep 1000 & echo done'));
  assert.deepEqual(await output, { ok: true, reply: 'done' });
  await endOfProcesses(runId);
});

test('a program with an endless reply is ended', async () => {
  const { output, runId } = start(['yes']);
  await output;
  await endOfProcesses(runId);
});

test('a run that is aborted before its start starts no program', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'ran');
  await writeFile(file, 'no');
  const abort = new AbortController();
  abort.abort('shutdown');
  const agent = createCommandAgent({
    cwd: process.cwd(),
    inputFolder: tmpdir(),
    command: sh(`echo yes > ${file}`),
    env: { PATH: process.env['PATH'] ?? '' },
    maxReplyBytes: 10,
    killAfterMs: 10,
    groups: new Set(),
  });
  assert.equal((await agent.run(input, abort.signal)).ok, false);
  assert.equal(await readFile(file, 'utf8'), 'no');
});

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-command-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
