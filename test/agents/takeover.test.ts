// Several daemons on one database: what a dead one held is taken over, what a live one holds is left alone and waited for.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLeaseWatch } from '../../src/agents/lease.js';
import { processStart, thisHost } from '../../src/agents/processes.js';
import type { Runner } from '../../src/core/agents/run-store.js';
import { AWAY } from '../../src/core/storage.js';
import { openStore, type Store } from '../../src/store/store.js';
import { startAgentServer } from '../helpers/agent-server.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent, testHooks } from '../helpers/hooks.js';

const limits = { maxMessages: 100, maxBytes: 10_000 };
/** What `add` was told as the n-th run, by n. */
const ids = new Map<number, string>();
const id = (n: number) => ids.get(n) ?? `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const other: Runner = { id: id(999), host: 'another-machine', pid: 1, pidStart: '1', seenAt: 0 };

async function opened(t: TestContext): Promise<{ dataDir: string; store: Store }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-takeover-'));
  const store = await openStore(await databaseOf(dataDir));
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { dataDir, store };
}

async function add(store: Store, n: number, owner: string | null, session = 's'): Promise<void> {
  const run = {
    kind: 'message',
    agent: 'a',
    session,
    message: `m${n}`,
    origin: 'webhook',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  const [stored] = await store.runs.add([{ run, owner, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  ids.set(n, stored.runId);
}

const deadRunners: readonly [string, Runner][] = [
  ['on another machine, silent for longer than its lease', other],
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
    await store.runs.claim([id(1)], other.id, 5);
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
    await store.runs.claim([id(1)], other.id, 5);
    await add(store, 2, null);
    await add(store, 3, null, 'another-session');
    const server = await startAgentServer(t, () => 'done');
    const gateway = await startGateway(t, { dataDir, agents: { a: httpAgent(server.url) } });
    await gateway.run(id(3));
    assert.equal((await store.runs.get(id(2)))?.status, 'queued');
    const end = { status: 'succeeded', finishedAt: 9, reply: 'theirs', error: null, deliver: false } as const;
    assert.deepEqual(await store.runs.finish([{ id: id(1), end }], other.id, limits), [true]);
    await gateway.run(id(2));
    assert.deepEqual(server.requests.at(-1)?.json.history, [
      { role: 'user', content: 'm1' },
      { role: 'assistant', content: 'theirs' },
    ]);
  });
}

test('a runner on another machine that renews its lease keeps its runs', async (t) => {
  const { store } = await opened(t);
  await store.runs.seen(other);
  await add(store, 1, other.id);
  await store.runs.claim([id(1)], other.id, 5);
  const watch = createLeaseWatch(300, () => at);
  let at = 0;
  for (const seenAt of [1, 2, 3]) {
    at += 6200;
    assert.deepEqual(watch.silent([{ ...other, seenAt }]), []);
  }
  at += 6400;
  assert.equal(watch.silent([{ ...other, seenAt: 3 }]).length, 1);
  // Seen between the look and the act: nothing is taken over.
  await store.runs.seen({ ...other, seenAt: 4 });
  assert.equal(await store.runs.release(other.id, 3, 'why', 5, 3), null);
  assert.equal((await store.runs.get(id(1)))?.status, 'running');
  // After an outage everybody is given a whole lease again.
  watch.forget();
  assert.deepEqual(watch.silent([{ ...other, seenAt: 3 }]), []);
});

test('a lost lease interrupts what runs here; held again, it is run once more, though no attempt is left', async (t) => {
  let isAway = false;
  const server = await startAgentServer(t, (_request, _res, req) =>
    server.requests.length === 1
      ? new Promise((resolve) => req.on('close', () => resolve(undefined)))
      : 'done',
  );
  // A claim that found that a run is not ours answers only when the run has been adopted again.
  let adopted = () => {};
  const isAdopted = new Promise<void>((resolve) => {
    adopted = resolve;
  });
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    deps: { isShared: true, leaseMs: 3000 },
    webhooks: { maxAttempts: 1 },
    breakStore: (runs) => ({
      ...runs,
      claim: async (...asked) => {
        const claims = await runs.claim(...asked);
        if (claims.some(({ outcome }) => outcome === 'gone')) await isAdopted;
        return claims;
      },
      adopt: async (...asked) => {
        const found = await runs.adopt(...asked);
        if (found.length > 0) setImmediate(() => adopted());
        return found;
      },
      seen: async (runner) => {
        if (isAway) throw new Error('away');
        await runs.seen(runner);
      },
    }),
  });
  const run = await gateway.queue('a', 'one');
  await eventually(() => server.requests.length === 1);
  isAway = true;
  await eventually(() => gateway.lines.some(({ msg }) => msg === 'runner lease lost; interrupting runs'));
  const waiting = await gateway.queue('a', 'two');
  await gateway.run(run, ({ status }) => status === 'running');
  assert.equal(server.requests.length, 1, 'nothing is begun without a lease');
  isAway = false;
  const done = await gateway.run(run);
  assert.deepEqual([done.status, done.attempt], ['succeeded', 2]);
  assert.equal((await gateway.run(waiting)).attempt, 1);
  assert.deepEqual(server.requests.map(({ json }) => json.message).sort(), ['one', 'one', 'two']);
});

test('runs whose storing or claim was done, but not answered, are run all the same', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const away = () => Object.assign(new Error('no connection'), { [AWAY]: true });
  let lost: 'add' | 'claim' | null = null;
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    deps: { isShared: true },
    breakStore: (runs) => ({
      ...runs,
      add: async (...asked) => {
        const stored = await runs.add(...asked);
        if (lost !== 'add') return stored;
        lost = null;
        throw away();
      },
      claim: async (...asked) => {
        const claims = await runs.claim(...asked);
        if (lost !== 'claim') return claims;
        lost = null;
        throw away();
      },
    }),
  });
  lost = 'claim';
  assert.equal((await gateway.run(await gateway.queue('a', 'claimed'))).status, 'succeeded');
  lost = 'add';
  await assert.rejects(gateway.queue('a', 'stored'));
  await eventually(() => server.requests.length === 2);
  assert.deepEqual(
    server.requests.map(({ json }) => json.message),
    ['claimed', 'stored'],
  );
});

test('a run that another daemon is running is cancelled by way of that one', async (t) => {
  const { dataDir, store } = await opened(t);
  const server = await startAgentServer(
    t,
    (_request, _res, req) => new Promise((resolve) => req.on('close', resolve)),
  );
  const agents = { a: httpAgent(server.url) };
  const owner = await startGateway(t, { dataDir, agents });
  const run = await owner.queue('a', 'long');
  await eventually(() => server.requests.length === 1);
  const beside = testHooks(store, { agents });
  assert.equal(await beside.control.cancel(run), 'cancelled');
  assert.equal((await store.runs.get(run))?.status, 'cancelled');
  assert.equal(await beside.control.cancel(run), 'finished');
});

test('a run that was to be cancelled is not run again when its daemon dies', async (t) => {
  const { store } = await opened(t);
  await add(store, 1, 'one');
  await store.runs.claim([id(1)], 'one', 5);
  assert.equal(await store.runs.requestCancel(id(1), 6), true);
  assert.deepEqual(await store.runs.cancelRequests('one'), [id(1)]);
  await store.runs.release('one', 3, 'why', 7);
  assert.equal((await store.runs.get(id(1)))?.status, 'cancelled');
  assert.equal(await store.runs.requestCancel(id(1), 8), false);
});

test('a run is claimed once, by its owner only, and finished once', async (t) => {
  const { store } = await opened(t);
  await add(store, 1, 'one');
  assert.deepEqual(await store.runs.claim([id(1)], 'two', 5), [{ outcome: 'gone' }]);
  const claims = await Promise.all([1, 2, 3].map(() => store.runs.claim([id(1)], 'one', 5)));
  assert.deepEqual(
    claims.flat().map(({ outcome }) => outcome),
    ['claimed', 'gone', 'gone'],
  );
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r', error: null, deliver: false } as const;
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'two', limits), [false]);
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'one', limits), [true]);
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'one', limits), [false]);
  assert.equal((await store.agentSessions.messages('s')).length, 2);
});

test('many runs are claimed at once, each by what holds for it alone', async (t) => {
  const { store } = await opened(t);
  await add(store, 1, 'one', 'said-before');
  await store.runs.claim([id(1)], 'one', 5);
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r1', error: null, deliver: false } as const;
  await store.runs.finish([{ id: id(1), end }], 'one', limits);
  await add(store, 2, 'one', 'said-before');
  await add(store, 3, 'one', 'same');
  await add(store, 4, 'one', 'same');
  await add(store, 5, 'two', 'theirs');
  const claims = await store.runs.claim([4, 5, 3, 2, 6].map(id), 'one', 5);
  assert.deepEqual(
    claims.map((claim) =>
      claim.outcome === 'claimed' ? claim.history.map(({ content }) => content) : claim,
    ),
    [{ outcome: 'blocked' }, { outcome: 'gone' }, [], ['m1', 'r1'], { outcome: 'gone' }],
  );
  assert.deepEqual(
    await Promise.all([2, 3, 4, 5].map(async (n) => (await store.runs.get(id(n)))?.attempt)),
    [1, 1, 0, 0],
  );
});

test('many runs are finished at once, each session with its own exchange and within its limits', async (t) => {
  const { store } = await opened(t);
  for (const n of [1, 2, 3]) await add(store, n, 'one', `s${n % 2}`);
  await store.runs.claim([1, 2].map(id), 'one', 5);
  const succeeded = (reply: string, deliver = false) =>
    ({ status: 'succeeded', finishedAt: 9, reply, error: null, deliver }) as const;
  const failed = { status: 'failed', finishedAt: 9, reply: null, error: 'why', deliver: true } as const;
  assert.deepEqual(
    await store.runs.finish(
      [
        { id: id(1), end: succeeded('r1') },
        { id: id(3), end: succeeded('not begun') },
        { id: id(2), end: failed },
      ],
      'one',
      limits,
    ),
    [true, false, true],
  );
  const [first, second] = await Promise.all([1, 2].map((n) => store.runs.get(id(n))));
  assert.deepEqual(
    [first?.status, first?.reply, first?.delivery, first?.finishedAt],
    ['succeeded', 'r1', 'none', 9],
  );
  assert.deepEqual(
    [second?.status, second?.error, second?.delivery, second?.nextDeliveryAt],
    ['failed', 'why', 'pending', 9],
  );
  assert.equal(await store.agentSessions.get('s0'), null);

  await store.runs.claim([id(3)], 'one', 5);
  await store.runs.finish([{ id: id(3), end: succeeded('r3') }], 'one', { maxMessages: 3, maxBytes: 100 });
  assert.deepEqual(
    (await store.agentSessions.messages('s1')).map(({ content }) => content),
    ['m3', 'r3'],
  );
  const { messages, bytes } = (await store.agentSessions.get('s1')) ?? {};
  assert.deepEqual({ messages, bytes }, { messages: 2, bytes: 4 });
});

test('runs without an owner are adopted once, oldest first, and at most the requested number', async (t) => {
  const { store } = await opened(t);
  for (const n of [1, 2, 3]) await add(store, n, null);
  assert.deepEqual(
    (await store.runs.adopt('one', 2)).map((run) => run.id),
    [id(1), id(2)],
  );
  const [left, none] = await Promise.all([store.runs.adopt('one', 5), store.runs.adopt('two', 5)]);
  assert.deepEqual([left.length + none.length, (await store.runs.adopt('two', 5)).length], [1, 0]);
  assert.deepEqual(await store.runs.adopt('one', 0), []);
});
