// Several daemons on one database: the runs of a dead daemon are taken over, those of a live one are left to it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLeaseWatch } from '../../src/agents/keeper.js';
import { processStart, thisHost } from '../../src/agents/processes.js';
import type { RunNode } from '../../src/core/agents/run-store.js';
import { withStorageProblem } from '../../src/core/errors.js';
import { openStore, type Store } from '../../src/store/store.js';
import { startAgentServer } from '../helpers/agent-server.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent, testHooks } from '../helpers/hooks.js';

const limits = { maxMessages: 100, maxBytes: 10_000 };
/** The ids of the runs that `add` stored, by n. */
const ids = new Map<number, string>();
const id = (n: number) => ids.get(n) ?? `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const other: RunNode = { id: id(999), host: 'another-machine', pid: 1, pidStart: '1', seenAt: 0 };

async function openDatabase(t: TestContext): Promise<{ dataDir: string; store: Store }> {
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
  const [stored] = await store.runs.add([{ run, node: owner, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  ids.set(n, stored.runId);
}

const deadRunners: readonly [string, RunNode][] = [
  ['on another machine that was silent for longer than its lease', other],
  [
    'on this machine whose process has ended',
    { ...other, host: thisHost(), pid: 2 ** 22 + 1, seenAt: Date.now() },
  ],
  [
    'on this machine whose process id belongs to another process now',
    { ...other, host: thisHost(), pid: process.pid, pidStart: '1', seenAt: Date.now() },
  ],
];
for (const [name, runner] of deadRunners) {
  test(`the runs of a runner ${name} are taken over in order, queued and interrupted ones`, async (t) => {
    const { dataDir, store } = await openDatabase(t);
    await store.runs.renewLease(runner);
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

test('a live runner on this machine keeps its runs without a lease, and later runs of their session wait', async (t) => {
  const { dataDir, store } = await openDatabase(t);
  const { pid } = process;
  await store.runs.renewLease({ ...other, host: thisHost(), pid, pidStart: processStart(pid) });
  await add(store, 1, other.id);
  await store.runs.claim([id(1)], other.id, 5);
  await add(store, 2, null);
  await add(store, 3, null, 'another-session');
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, { dataDir, agents: { a: httpAgent(server.url) } });
  await gateway.run(id(3));
  assert.equal((await store.runs.get(id(2)))?.status, 'queued');
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r1', error: null, deliver: false } as const;
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], other.id, limits), [true]);
  await gateway.run(id(2));
  assert.deepEqual(server.requests.at(-1)?.json.history, [
    { role: 'user', content: 'm1' },
    { role: 'assistant', content: 'r1' },
  ]);
});

test('a runner on another machine that renews its lease keeps its runs', async (t) => {
  const { store } = await openDatabase(t);
  await store.runs.renewLease(other);
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
  // A renewal between the check and the takeover: nothing is taken over.
  await store.runs.renewLease({ ...other, seenAt: 4 });
  assert.equal(await store.runs.release(other.id, 3, 'why', 5, 3), null);
  assert.equal((await store.runs.get(id(1)))?.status, 'running');
  // After an outage every runner has a whole lease again.
  watch.forget();
  assert.deepEqual(watch.silent([{ ...other, seenAt: 3 }]), []);
});

test('a lost lease interrupts the runs of this daemon, and a renewed lease runs them again, even after maxAttempts', async (t) => {
  let isAway = false;
  const server = await startAgentServer(t, (_request, _res, req) =>
    server.requests.length === 1
      ? new Promise((resolve) => req.on('close', () => resolve(undefined)))
      : 'done',
  );
  // A claim that found a run without this owner answers only after the run was adopted again.
  let resumeClaims = () => {};
  const isAdopted = new Promise<void>((resolve) => {
    resumeClaims = resolve;
  });
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    deps: { isShared: true, leaseMs: 8000 },
    webhooks: { maxAttempts: 1 },
    breakStore: (runs) => ({
      ...runs,
      claim: async (...args) => {
        const claims = await runs.claim(...args);
        if (claims.some(({ outcome }) => outcome === 'gone')) await isAdopted;
        return claims;
      },
      adopt: async (...args) => {
        const found = await runs.adopt(...args);
        if (found.length > 0) setImmediate(() => resumeClaims());
        return found;
      },
      renewLease: async (runner) => {
        if (isAway) throw new Error('away');
        await runs.renewLease(runner);
      },
    }),
  });
  const run = await gateway.queue('a', 'one');
  await eventually(() => server.requests.length === 1);
  isAway = true;
  await eventually(() => gateway.lines.some(({ msg }) => msg === 'runner lease lost; interrupting runs'));
  const waiting = await gateway.queue('a', 'two');
  await gateway.run(run, ({ status }) => status === 'running');
  assert.equal(server.requests.length, 1, 'no run starts without a lease');
  isAway = false;
  const done = await gateway.run(run);
  assert.deepEqual([done.status, done.attempt], ['succeeded', 2]);
  assert.equal((await gateway.run(waiting)).attempt, 1);
  assert.deepEqual(server.requests.map(({ json }) => json.message).sort(), ['one', 'one', 'two']);
});

for (const lost of ['storing', 'claim'] as const) {
  test(`a run is executed although the database connection broke after its ${lost}`, async (t) => {
    const server = await startAgentServer(t, () => 'done');
    let isLost = false;
    const loseFirstAnswer = (): void => {
      if (isLost) return;
      isLost = true;
      throw withStorageProblem(new Error('no connection'), 'database-away');
    };
    const gateway = await startGateway(t, {
      agents: { a: httpAgent(server.url) },
      // Shorter than the time to the next claim, so that the first look for the run comes too early. Nobody else could adopt the run,
      // so a lease that ends on a slow machine interrupts nothing.
      deps: { isShared: false, leaseMs: 700 },
      breakStore: (runs) => ({
        ...runs,
        add: async (...asked) => {
          const stored = await runs.add(...asked);
          if (lost === 'storing') loseFirstAnswer();
          return stored;
        },
        claim: async (...asked) => {
          const claims = await runs.claim(...asked);
          if (lost === 'claim') loseFirstAnswer();
          return claims;
        },
      }),
    });
    const queued = gateway.queue('a', 'one');
    if (lost === 'storing') await assert.rejects(queued);
    else await queued;
    await eventually(async () => {
      const statuses = (await gateway.runs()).map(({ status }) => status);
      assert.deepEqual(statuses, ['succeeded']);
    });
    assert.equal(server.requests.length, 1);
  });
}

test('cancelling a run of another daemon makes that daemon end it', async (t) => {
  const { dataDir, store } = await openDatabase(t);
  const server = await startAgentServer(
    t,
    (_request, _res, req) => new Promise((resolve) => req.on('close', resolve)),
  );
  const agents = { a: httpAgent(server.url) };
  const owner = await startGateway(t, { dataDir, agents });
  const run = await owner.queue('a', 'long');
  await eventually(() => server.requests.length === 1);
  const otherHooks = testHooks(store, { agents });
  assert.equal(await otherHooks.control.cancel(run), 'cancelled');
  assert.equal((await store.runs.get(run))?.status, 'cancelled');
  assert.equal(await otherHooks.control.cancel(run), 'finished');
});

test('a run with a request to cancel it is not retried after its daemon died', async (t) => {
  const { store } = await openDatabase(t);
  await add(store, 1, 'one');
  await store.runs.claim([id(1)], 'one', 5);
  assert.equal(await store.runs.requestCancel(id(1), 6), true);
  assert.deepEqual(await store.runs.cancelRequests('one'), [id(1)]);
  await store.runs.release('one', 3, 'why', 7);
  assert.equal((await store.runs.get(id(1)))?.status, 'cancelled');
  assert.equal(await store.runs.requestCancel(id(1), 8), false);
});

test('a run is claimed and finished once, and only by its owner', async (t) => {
  const { store } = await openDatabase(t);
  await add(store, 1, 'one');
  assert.deepEqual(await store.runs.claim([id(1)], 'two', 5), [{ outcome: 'gone' }]);
  const claims = await Promise.all([1, 2, 3].map(() => store.runs.claim([id(1)], 'one', 5)));
  assert.deepEqual(
    claims
      .flat()
      .map(({ outcome }) => outcome)
      .sort(),
    ['claimed', 'gone', 'gone'],
  );
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r', error: null, deliver: false } as const;
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'two', limits), [false]);
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'one', limits), [true]);
  assert.deepEqual(await store.runs.finish([{ id: id(1), end }], 'one', limits), [false]);
  assert.equal((await store.agentSessions.messages('s')).length, 2);
});

test('claiming many runs at once gives each run its own outcome', async (t) => {
  const { store } = await openDatabase(t);
  await add(store, 1, 'one', 'with-history');
  await store.runs.claim([id(1)], 'one', 5);
  const end = { status: 'succeeded', finishedAt: 9, reply: 'r1', error: null, deliver: false } as const;
  await store.runs.finish([{ id: id(1), end }], 'one', limits);
  await add(store, 2, 'one', 'with-history');
  await add(store, 3, 'one', 'same');
  await add(store, 4, 'one', 'same');
  await add(store, 5, 'two', 'other');
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

test('finishing many runs at once adds each exchange to its session, within the limits of the history', async (t) => {
  const { store } = await openDatabase(t);
  for (const n of [1, 2, 3]) await add(store, n, 'one', `s${n % 2}`);
  await store.runs.claim([1, 2].map(id), 'one', 5);
  const succeeded = (reply: string, deliver = false) =>
    ({ status: 'succeeded', finishedAt: 9, reply, error: null, deliver }) as const;
  const failed = { status: 'failed', finishedAt: 9, reply: null, error: 'why', deliver: true } as const;
  assert.deepEqual(
    await store.runs.finish(
      [
        { id: id(1), end: succeeded('r1') },
        { id: id(3), end: succeeded('not started') },
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
  const { store } = await openDatabase(t);
  for (const n of [1, 2, 3]) await add(store, n, null);
  assert.deepEqual(
    (await store.runs.adopt('one', 2)).map((run) => run.id),
    [id(1), id(2)],
  );
  const [byOne, byTwo] = await Promise.all([store.runs.adopt('one', 5), store.runs.adopt('two', 5)]);
  assert.deepEqual([byOne.length + byTwo.length, (await store.runs.adopt('two', 5)).length], [1, 0]);
  assert.deepEqual(await store.runs.adopt('one', 0), []);
});
