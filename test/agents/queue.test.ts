// The queue: order within a session, sessions side by side, bounds at the edge, and what a shutdown does.
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

const EACH = scaled(8);

test(`${EACH} messages to each of 20 sessions: in order, one at a time; never more than "concurrency" at once`, async (t) => {
  const busy = new Set<string>();
  const seen = new Map<string, number[]>();
  let most = 0;
  let fill = (): void => {};
  // The first six wait for each other: without it a slow machine may never have six at once.
  const six = new Promise<void>((resolve) => (fill = resolve));
  const server = await startAgentServer(t, async ({ json: { session, message } }) => {
    assert.ok(!busy.has(session), `two runs of ${session} at once`);
    busy.add(session);
    most = Math.max(most, busy.size);
    seen.set(session, [...(seen.get(session) ?? []), Number(message)]);
    if (most === 6) fill();
    await six;
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
  for (let i = 0; i < EACH; i++) {
    ids.push(
      ...(await Promise.all(Array.from({ length: 20 }, (_, s) => gateway.queue('a', String(i), `s${s}`)))),
    );
  }
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
  assert.equal(seen.size, 20);
  for (const order of seen.values())
    assert.deepEqual(
      order,
      Array.from({ length: EACH }, (_, i) => i),
    );
  assert.equal(most, 6);
});

test('the history grows by what was said, in the order it was said', async (t) => {
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

test('the bound of an agent is exact, is its own, and frees with each run', async (t) => {
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
  assert.equal((await gateway.runs()).length, 6, 'what was refused is not stored');

  release();
  await eventually(() => server.requests.length === 2);
  assert.deepEqual([await ask('b'), await ask('b')], [200, 429]);
});

test('a burst beyond the bound: exactly as many are taken as there are places', async (t) => {
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

test('a shutdown answers 503, lets the run under way end, and leaves the rest to the next start', async (t) => {
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

test('runs created by the command line are executed by the running daemon', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const run = {
    kind: 'message',
    agent: 'a',
    session: 's',
    message: 'x',
    origin: 'cli',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  const [stored] = await gateway.store.runs.add([{ run, owner: null, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  assert.equal((await gateway.run(stored.runId)).reply, 'done');
});

test('a run of an agent that is not configured any more fails and says so', async (t) => {
  const gateway = await startGateway(t);
  const run = {
    kind: 'message',
    agent: 'gone',
    session: 's',
    message: 'x',
    origin: 'cli',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  const [stored] = await gateway.store.runs.add([{ run, owner: null, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  const ended = await gateway.run(stored.runId);
  assert.equal(ended.status, 'failed');
  assert.match(ended.error ?? '', /agent gone is no longer configured/);
});

/** A run as the command line leaves it: stored by another process, held by nobody. */
async function sentByCommandLine(store: Store, session: string, message: string): Promise<string> {
  const run = {
    kind: 'message',
    agent: 'a',
    session,
    message,
    origin: 'cli',
    rerunOf: null,
    acceptedAt: 0,
  } as const;
  const [stored] = await store.runs.add([{ run, owner: null, idempotency: null }], 0);
  assert.equal(stored?.outcome, 'stored');
  return stored.runId;
}

test('runs of the command line beside webhooks of the same session: all run, in the order they were stored', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const beside = await openStore(await databaseOf(gateway.dataDir));
  t.after(() => beside.close());
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) {
    ids.push(await sentByCommandLine(beside, 's', `command line ${i}`));
    ids.push(await gateway.queue('a', `webhook ${i}`, 's'));
  }
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
  assert.deepEqual(
    server.requests.map(({ json }) => json.runId),
    ids,
  );
});

test('a clock set back across a restart changes nothing in the order', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-queue-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const before = await startGateway(t, {
    dataDir,
    isStarted: false,
    agents: { a: httpAgent('http://127.0.0.1:1') },
  });
  const ids = [await before.queue('a', 'first', 's'), await before.queue('a', 'second', 's')];
  await before.stop();
  const server = await startAgentServer(t, () => 'done');
  const hourAgo = () => Date.now() - 3_600_000;
  const after = await startGateway(t, {
    dataDir,
    agents: { a: httpAgent(server.url) },
    deps: { now: hourAgo },
    storeNow: hourAgo,
  });
  ids.push(await after.queue('a', 'third', 's'), await sentByCommandLine(after.store, 's', 'fourth'));
  ids.push(await after.queue('a', 'fifth', 's'));
  for (const id of ids) assert.equal((await after.run(id)).status, 'succeeded');
  assert.deepEqual(
    server.requests.map(({ json }) => json.message),
    ['first', 'second', 'third', 'fourth', 'fifth'],
  );
});

test('a full queue takes in the run of the command line that it waits for', async (t) => {
  const server = await startAgentServer(t, () => 'done');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url) },
    webhooks: { queue: { perAgent: 2, total: 2 } },
  });
  const ids = [await sentByCommandLine(gateway.store, 's', 'waited for')];
  for (const message of ['one', 'two']) ids.push(await gateway.queue('a', message, 's'));
  for (const id of ids) assert.equal((await gateway.run(id)).status, 'succeeded');
});
