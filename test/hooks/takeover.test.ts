// Several daemons on one database: what a dead one held is taken over, what a live one holds is left alone and waited for.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Runner } from '../../src/core/agents/run-ports.js';
import type { Store } from '../../src/core/ports.js';
import { processStart, thisHost } from '../../src/hooks/processes.js';
import { openStore } from '../../src/store/store.js';
import { startAgentServer } from '../helpers/agent-server.js';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent } from '../helpers/hooks.js';

const limits = { maxMessages: 100, maxBytes: 10_000 };
const id = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const other: Runner = { id: id(999), host: 'another-machine', pid: 1, pidStart: '1', seenAt: 0 };

async function opened(t: TestContext): Promise<{ dataDir: string; store: Store }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-takeover-'));
  const store = await openStore({ dataDir, client: 'sqlite3', busyTimeoutMs: 5000 });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { dataDir, store };
}

function add(store: Store, n: number, owner: string | null, session = 's') {
  const run = {
    id: id(n),
    kind: 'message',
    agent: 'a',
    session,
    message: `m${n}`,
    origin: 'webhook',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  return store.runs.add([{ run, owner, idempotency: null }], 0);
}

const deadRunners: readonly [string, Runner][] = [
  ['on another machine, not seen for more than 30 s', { ...other, seenAt: Date.now() - 31_000 }],
  [
    'on this machine, whose process is gone',
    { ...other, host: thisHost(), pid: 2 ** 22 + 1, seenAt: Date.now() },
  ],
  [
    'on this machine, whose process number is another one now',
    { ...other, host: thisHost(), pid: process.pid, pidStart: '1', seenAt: Date.now() },
  ],
];
for (const [name, runner] of deadRunners) {
  test(`a runner ${name}: its queued and interrupted runs are taken over, in order`, async (t) => {
    const { dataDir, store } = await opened(t);
    await store.runs.seen(runner);
    for (const n of [1, 2, 3]) await add(store, n, other.id);
    await store.runs.claim(id(1), other.id, 5);
    const server = await startAgentServer(t, () => 'done');
    const gateway = await startGateway(t, { dataDir, agents: { a: httpAgent(server.url) } });
    for (const n of [1, 2, 3]) assert.equal((await gateway.run(id(n))).status, 'succeeded');
    assert.deepEqual(
      server.requests.map(({ json }) => [json.message, json.attempt]),
      [
        ['m1', 2],
        ['m2', 1],
        ['m3', 1],
      ],
    );
    assert.ok(!(await store.runs.runners()).some(({ id }) => id === other.id));
  });
}

const liveRunners: readonly [string, Runner][] = [
  ['on another machine, seen just now', { ...other, seenAt: Date.now() }],
  [
    'on this machine, however long not seen',
    { ...other, host: thisHost(), pid: process.pid, pidStart: processStart(process.pid) },
  ],
];
for (const [name, runner] of liveRunners) {
  test(`a runner ${name}: its runs are its own, and later ones of the same session wait for them`, async (t) => {
    const { dataDir, store } = await opened(t);
    await store.runs.seen(runner);
    await add(store, 1, other.id);
    await store.runs.claim(id(1), other.id, 5);
    await add(store, 2, null);
    await add(store, 3, null, 'another-session');
    const server = await startAgentServer(t, () => 'done');
    const gateway = await startGateway(t, { dataDir, agents: { a: httpAgent(server.url) } });
    await gateway.run(id(3));
    assert.equal((await store.runs.get(id(2)))?.status, 'queued');
    const end = { status: 'succeeded', finishedAt: 9, reply: 'theirs', error: null, deliver: false } as const;
    assert.equal(await store.runs.finish(id(1), other.id, end, limits), true);
    await gateway.run(id(2));
    assert.deepEqual(server.requests.at(-1)?.json.history, [
      { role: 'user', content: 'm1' },
      { role: 'assistant', content: 'theirs' },
    ]);
  });
}

test('a run is claimed once, by its owner only, and finished once', async (t) => {
  const { store } = await opened(t);
  await add(store, 1, 'one');
  assert.equal((await store.runs.claim(id(1), 'two', 5)).outcome, 'gone');
  const claims = await Promise.all([1, 2, 3].map(() => store.runs.claim(id(1), 'one', 5)));
  assert.deepEqual(
    claims.map(({ outcome }) => outcome),
    ['claimed', 'gone', 'gone'],
  );
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r', error: null, deliver: false } as const;
  assert.equal(await store.runs.finish(id(1), 'two', end, limits), false);
  assert.equal(await store.runs.finish(id(1), 'one', end, limits), true);
  assert.equal(await store.runs.finish(id(1), 'one', end, limits), false);
  assert.equal((await store.agentSessions.messages('s')).length, 2);
});

test('what nobody holds is adopted once, oldest first, and no more than asked for', async (t) => {
  const { store } = await opened(t);
  for (const n of [3, 1, 2]) await add(store, n, null);
  assert.deepEqual(
    (await store.runs.adopt('one', 2)).map((run) => run.id),
    [id(1), id(2)],
  );
  const [left, none] = await Promise.all([store.runs.adopt('one', 5), store.runs.adopt('two', 5)]);
  assert.deepEqual([left.length + none.length, (await store.runs.adopt('two', 5)).length], [1, 0]);
  assert.deepEqual(await store.runs.adopt('one', 0), []);
});
