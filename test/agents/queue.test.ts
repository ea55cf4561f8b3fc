// The queue of runs: order within a session, concurrency between sessions, its limits, and shutdowns.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore, type Store } from '../../src/store/store.js';
import { startAgentServer } from '../helpers/agent-server.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent, SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import { scaled } from '../helpers/scale.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const MESSAGES_PER_SESSION = scaled(4);

test(`${MESSAGES_PER_SESSION} messages to each of 20 sessions run in order, one at a time per session and "concurrency" in total`, async (t) => {
  const busy = new Set<string>();
  const received = new Map<string, number[]>();
  let mostBusy = 0;
  let allowAnswers = (): void => {};
  // The first six runs wait for each other: on a slow machine six might otherwise never run at once.
  const sixRunning = new Promise<void>((resolve) => (allowAnswers = resolve));
  const server = await startAgentServer(t, async ({ json: { session, message } }) => {
    assert.ok(!busy.has(session), `two runs of ${session} at once`);
    busy.add(session);
    mostBusy = Math.max(mostBusy, busy.size);
    received.set(session, [...(received.get(session) ?? []), Number(message)]);
    if (mostBusy === 6) allowAnswers();
    await sixRunning;
    // Each run takes a while, in which a second run of its session would be noticed.
    await pause(10 + Math.random() * 20);
    busy.delete(session);
    return { reply: message };
  });
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    webhooks: { concurrency: 6, agents: { a: { sessionKey: null } } },
  });
  const ids: string[] = [];
  // In order within a session, the sessions interleaved; 20 requests at once.
  for (let i = 0; i < MESSAGES_PER_SESSION; i++) {
    ids.push(
      ...(await Promise.all(Array.from({ length: 20 }, (_, s) => gateway.queue('a', String(i), `s${s}`)))),
    );
  }
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
  assert.equal(received.size, 20);
  for (const order of received.values())
    assert.deepEqual(
      order,
      Array.from({ length: MESSAGES_PER_SESSION }, (_, i) => i),
    );
  assert.equal(mostBusy, 6);
});

test('the history of a session grows by each message and its reply, in order', async (t) => {
  const server = await startAgentServer(t, ({ json }) => ({ reply: `${json.history.length}` }));
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await gateway.queue('a', `m${i}`, 's'));
  for (const id of ids) await gateway.run(id);
  assert.deepEqual(server.requests[2]?.json.history, [
    { role: 'user', content: 'm0' },
    { role: 'assistant', content: '0' },
    { role: 'user', content: 'm1' },
    { role: 'assistant', content: '2' },
  ]);
});

test('the queue of an agent holds exactly its limit, beside those of other agents, and each finished run frees a place', async (t) => {
  let release: () => void = () => {};
  const server = await startAgentServer(t, () => new Promise((resolve) => (release = () => resolve('done'))));
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url), b: httpAgent(server.url) },
    webhooks: {
      concurrency: 1,
      queue: { perAgent: 3, total: 5 },
      agents: { a: { sessionKey: null }, b: { sessionKey: null } },
    },
  });
  const ask = async (agent: string) => (await gateway.post('/hooks/agent', { agent, message: 'x' })).status;
  await gateway.queue('a', 'first');
  await eventually(() => server.requests.length === 1);

  assert.deepEqual([await ask('a'), await ask('a'), await ask('a'), await ask('a')], [200, 200, 200, 429]);
  assert.deepEqual([await ask('b'), await ask('b'), await ask('b')], [200, 200, 429]);
  const full = await gateway.post('/hooks/agent', { agent: 'b', message: 'x' });
  assert.match(String(full.headers['retry-after']), /^\d+$/);
  assert.equal((await gateway.runs()).length, 6, 'refused runs are not stored');

  release();
  await eventually(() => server.requests.length === 2);
  assert.deepEqual([await ask('b'), await ask('b')], [200, 429]);
});

test('of 200 requests at once a queue with 50 places accepts exactly 50', async (t) => {
  const gateway = await startGateway(t, {
    isStarted: false,
    agents: { a: httpAgent('http://127.0.0.1:9/') },
    webhooks: { queue: { perAgent: 1000, total: 50 }, agents: { a: { sessionKey: null } } },
  });
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => gateway.post('/hooks/agent', { agent: 'a', message: 'x' })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 50);
  assert.equal(answers.filter(({ status }) => status === 429).length, 150);
  assert.equal((await gateway.runs()).length, 50);
});

test('a gateway that stops answers 503 and finishes the current run, and the next start executes the queued one', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-stop-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  let release: () => void = () => {};
  const server = await startAgentServer(t, () => new Promise((resolve) => (release = () => resolve('done'))));
  const agents = { a: httpAgent(server.url) };
  const first = await startGateway(t, {
    agents,
    dataDir,
    webhooks: { concurrency: 1, agents: { a: { sessionKey: null } } },
  });
  const running = await first.queue('a', 'one');
  const waiting = await first.queue('a', 'two');
  await eventually(() => server.requests.length === 1);
  const stopped = first.stop(10_000);

  const answer = await send(`${first.url}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'a', message: 'late' }),
  });
  assert.equal(answer.status, 503);
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
  release();
  await stopped;

  server.answer = () => 'done again';
  const second = await startGateway(t, { agents, dataDir });
  assert.deepEqual(
    [await second.run(running), await second.run(waiting)].map(({ status, attempt, reply }) => [
      status,
      attempt,
      reply,
    ]),
    [
      ['succeeded', 1, 'done'],
      ['succeeded', 1, 'done again'],
    ],
  );
});

test('a run that exceeds the grace period is interrupted, retried, and gets the attempt number', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-stop-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const server = await startAgentServer(t, () => new Promise(() => {}));
  const agents = { a: httpAgent(server.url) };
  let id = '';
  for (let attempt = 1; attempt <= 3; attempt++) {
    const gateway = await startGateway(t, { agents, dataDir });
    id ||= await gateway.queue('a', 'never ends', 's');
    await eventually(() => server.requests.length === attempt);
    assert.equal(server.requests.at(-1)?.json.attempt, attempt);
    await gateway.stop(0);
  }
  const last = await startGateway(t, { agents, dataDir });
  const run = await last.run(id);
  assert.deepEqual([run.status, run.attempt, run.error], ['failed', 3, 'interrupted 3 times']);
  assert.equal(server.requests.length, 3);
  await last.run(id, ({ delivery }) => delivery === 'none');
});

/** Stores a run as the command line does, without an owner. Returns its id. */
async function storeAsCommandLine(
  store: Store,
  session: string,
  message: string,
  agent = 'a',
): Promise<string> {
  const run = {
    kind: 'message',
    agent,
    session,
    message,
    origin: 'cli',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  const [stored] = await store.runs.add([{ run, node: null, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  return stored.runId;
}

test('a run from the command line is executed by the running daemon', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const id = await storeAsCommandLine(gateway.store, 's', 'x');
  assert.equal((await gateway.run(id)).reply, 'done');
});

test('a run of an agent that is no longer configured fails with an error that names the agent', async (t) => {
  const gateway = await startGateway(t);
  const run = await gateway.run(await storeAsCommandLine(gateway.store, 's', 'x', 'gone'));
  assert.equal(run.status, 'failed');
  assert.match(run.error ?? '', /agent gone is no longer configured/);
});

test('runs from the command line and from webhooks share a session in the order in which they are stored', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const otherStore = await openStore(await databaseOf(gateway.dataDir));
  t.after(() => otherStore.close());
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) {
    ids.push(await storeAsCommandLine(otherStore, 's', `command line ${i}`));
    ids.push(await gateway.queue('a', `webhook ${i}`, 's'));
  }
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
  assert.deepEqual(
    server.requests.map(({ json }) => json.runId),
    ids,
  );
});

test('a clock that is set back over a restart does not change the order', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-queue-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const first = await startGateway(t, {
    dataDir,
    isStarted: false,
    agents: { a: httpAgent('http://127.0.0.1:1') },
  });
  const ids = [await first.queue('a', 'first', 's'), await first.queue('a', 'second', 's')];
  await first.stop();
  const server = await startAgentServer(t, () => 'done');
  const hourAgo = () => Date.now() - 3_600_000;
  const second = await startGateway(t, {
    dataDir,
    agents: { a: httpAgent(server.url) },
    deps: { now: hourAgo },
    storeNow: hourAgo,
  });
  ids.push(await second.queue('a', 'third', 's'), await storeAsCommandLine(second.store, 's', 'fourth'));
  ids.push(await second.queue('a', 'fifth', 's'));
  for (const id of ids) assert.equal((await second.run(id)).status, 'succeeded');
  assert.deepEqual(
    server.requests.map(({ json }) => json.message),
    ['first', 'second', 'third', 'fourth', 'fifth'],
  );
});

test('a full queue accepts a run from the command line for which its runs wait', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    webhooks: { queue: { perAgent: 2, total: 2 } },
  });
  const ids = [await storeAsCommandLine(gateway.store, 's', 'from the command line')];
  for (const message of ['one', 'two']) ids.push(await gateway.queue('a', message, 's'));
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
});

test('the gateway starts before it has adopted the runs of a full queue, and executes new runs after them', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-queue-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const server = await startAgentServer(t, () => 'done');
  const agents = { a: httpAgent(server.url) };
  const before = await startGateway(t, { dataDir, isStarted: false, agents });
  const queued = Array.from({ length: 120 }, (_, i) => before.queue('a', String(i)));
  const ids = await Promise.all(queued);
  ids.push(await before.queue('a', 'earlier', 's'));
  await before.stop();
  let allowAdoption = (): void => {};
  const isAllowed = new Promise<void>((resolve) => (allowAdoption = resolve));
  const limits: number[] = [];
  const gateway = await startGateway(t, {
    dataDir,
    agents,
    breakStore: (runs) => ({
      ...runs,
      async adopt(...args) {
        await isAllowed;
        limits.push(args[1]);
        return runs.adopt(...args);
      },
    }),
  });
  const waiting = gateway.queue('a', 'later', 's');
  // A request of the admin API, on another connection, is answered.
  assert.equal((await send(`${gateway.url}/healthz`)).status, 200);
  assert.deepEqual([server.requests.length, (await gateway.runs()).length], [0, 121]);
  allowAdoption();
  ids.push(await waiting);
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
  assert.deepEqual(
    server.requests.flatMap(({ json }) => (json.session === 's' ? [json.message] : [])),
    ['earlier', 'later'],
  );
  assert.ok(
    limits.every((limit) => limit <= 100),
    'adopted in several transactions, so that other writes do not wait for all of them',
  );
});
