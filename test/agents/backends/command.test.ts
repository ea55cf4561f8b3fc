// Command agents: what a program is given, what counts as its reply, and that nothing of it is left running.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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
/** Runs `command` once, with a run id of its own unless `over` says otherwise. */
function start(command: readonly string[], over: Partial<Parameters<typeof createCommandAgent>[0]> = {}) {
  const groups = new Set<number>();
  const abort = new AbortController();
  const runId = `01900000-0000-7000-8000-${String(process.pid * 1000 + ++runs).padStart(12, '0')}`;
  const agent = createCommandAgent({
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

/** Processes alive whose environment carries the run. */
function alive(runId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(runId) &&
          readlinkSync(`/proc/${pid}/exe`) !== ''
        );
      } catch {
        return false;
      }
    });
}

test('the input comes as one JSON object on stdin', async () => {
  const output = await run(['cat']);
  assert.ok(output.ok);
  const { runId: _, ...given } = JSON.parse(output.reply);
  const { runId: __, ...expected } = input;
  assert.deepEqual(given, expected);
});

test('arguments are passed as they are, without a shell', async () => {
  const output = await run(['printf', '%s|', '$HOME', '; echo no', '`id`', '*', '']);
  assert.deepEqual(output, { ok: true, reply: '$HOME|; echo no|`id`|*||' });
});

test('the environment is what was configured and what names the run, nothing else', async () => {
  process.env['PULSEGATE_TEST_LEAK'] = 'leaked';
  const { output, runId } = start(['env'], { env: { PATH: process.env['PATH'] ?? '', TOKEN: 'x y' } });
  const said = await output;
  assert.ok(said.ok);
  assert.deepEqual(said.reply.split('\n').sort(), [
    `PATH=${process.env['PATH']}`,
    'PULSEGATE_AGENT=a',
    'PULSEGATE_ATTEMPT=2',
    'PULSEGATE_KIND=message',
    `PULSEGATE_RUN_ID=${runId}`,
    'PULSEGATE_SESSION=s',
    'TOKEN=x y',
  ]);
});

test('it runs in the folder that was configured', async (t) => {
  const folder = await temporary(t);
  assert.deepEqual(await run(['pwd'], { cwd: folder }), { ok: true, reply: folder });
});

const failures: readonly [string, readonly string[], RegExp][] = [
  ['a status other than 0', sh('echo half a reply; exit 3'), /^exit status 3$/],
  [
    'what it said on stderr',
    sh('echo "no \u001b[31mdatabase" >&2; exit 1'),
    /^exit status 1: no \[31mdatabase$/,
  ],
  ['only the end of a long stderr', sh('seq 100000 >&2; exit 1'), /99999 100000$/],
  ['a program that does not exist', ['no-such-program'], /no-such-program was not found/],
  ['a folder', ['/tmp'], /permission denied/],
  ['its own death', sh('kill -SEGV $$'), /ended by SIGSEGV/],
  ['a reply one byte too long', sh('head -c 1025 /dev/zero | tr "\\0" x'), /longer than 1024 bytes/],
  ['an endless reply', ['yes'], /longer than 1024 bytes/],
];
for (const [name, command, error] of failures) {
  test(`failure: ${name}`, async () => {
    const output = await run(command);
    assert.ok(!output.ok);
    assert.match(output.error, error);
    assert.ok(output.error.length < 700);
  });
}

test('a folder that does not exist', async () => {
  const output = await run(['true'], { cwd: '/no/such/folder' });
  assert.ok(!output.ok && /folder/.test(output.error));
});

test('a reply of exactly the limit counts, also after many small writes', async () => {
  const output = await run(sh('for i in $(seq 128); do printf 12345678; done'));
  assert.ok(output.ok && output.reply.length === 1024);
});

test('one line break at the end is dropped, all else is kept; U+0000 cannot be stored', async () => {
  assert.deepEqual(await run(sh('printf "a\\n\\n"')), { ok: true, reply: 'a\n' });
  assert.deepEqual(await run(sh('printf "a\\0b"')), { ok: true, reply: 'a\ufffdb' });
});

test('a program that does not read its input is not at fault, however long the input', async () => {
  const agent = createCommandAgent({
    command: ['echo', 'done'],
    env: {},
    maxReplyBytes: 1024,
    killAfterMs: 300,
    groups: new Set(),
  });
  const output = await agent.run({ ...input, message: 'x'.repeat(4_000_000) }, new AbortController().signal);
  assert.deepEqual(output, { ok: true, reply: 'done' });
});

test('after SIGTERM it may end by itself', async () => {
  const { abort, output, groups } = start(
    sh('trap "echo bye; exit 0" TERM; echo up >&2; while :; do sleep 0.05; done'),
  );
  await eventually(() => groups.size === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  abort.abort('cancelled');
  assert.deepEqual(await output, { ok: true, reply: 'bye' });
  assert.equal(groups.size, 0);
});

const survivors: readonly [string, string][] = [
  ['one that ignores SIGTERM', 'trap "" TERM; sleep 100'],
  ['children in its group', 'sleep 100 & sleep 100 & sleep 100'],
  ['grandchildren that ignore SIGTERM', '(trap "" TERM; sleep 100 & sleep 100) & wait'],
  ['a child in a session of its own', 'setsid sleep 100 & sleep 100'],
  ['a child that left and whose parent ended', 'setsid sh -c "sleep 100 & sleep 100" & sleep 100'],
];
for (const [name, script] of survivors) {
  test(`nothing is left of ${name}`, async () => {
    const { abort, output, runId } = start(sh(script));
    await eventually(() => alive(runId).length >= 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    abort.abort('timeout');
    await output;
    // They were killed; the kernel may take a moment.
    await eventually(() => alive(runId).length === 0);
  });
}

test('a program that ends leaves nobody of its group behind, and is not waited for because of them', async () => {
  const startedAt = Date.now();
  const { output, runId } = start(sh('sleep 100 & echo done'));
  assert.deepEqual(await output, { ok: true, reply: 'done' });
  assert.ok(Date.now() - startedAt < 60_000);
  await eventually(() => alive(runId).length === 0);
});

test('an endless reply is cut and its program ended', async () => {
  const { output, runId } = start(['yes']);
  await output;
  await eventually(() => alive(runId).length === 0);
});

test('a run that is aborted before it begins starts nothing', async (t) => {
  const folder = await temporary(t);
  const file = join(folder, 'ran');
  await writeFile(file, 'no');
  const abort = new AbortController();
  abort.abort('shutdown');
  const agent = createCommandAgent({
    command: sh(`echo yes > ${file}`),
    env: { PATH: process.env['PATH'] ?? '' },
    maxReplyBytes: 10,
    killAfterMs: 10,
    groups: new Set(),
  });
  assert.equal((await agent.run(input, abort.signal)).ok, false);
  assert.equal(await readFile(file, 'utf8'), 'no');
});

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-command-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
