// Agents, runs and sessions under /api/v1, as an operator sees and changes them; and how long they are stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgentServer } from '../helpers/agent-server.js';
import { eventually } from '../helpers/eventually.js';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent, scriptAgent } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are asserted field by field
type Json = any;
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('every route asks for the admin credentials', async (t) => {
  const { url } = await startGateway(t);
  const id = '01900000-0000-7000-8000-000000000000';
  for (const [method, path] of [
    ['GET', '/api/v1/agents'],
    ['POST', '/api/v1/agents/a/messages'],
    ['GET', '/api/v1/runs'],
    ['GET', `/api/v1/runs/${id}`],
    ['POST', `/api/v1/runs/${id}/cancel`],
    ['POST', `/api/v1/runs/${id}/rerun`],
    ['GET', '/api/v1/agent-sessions'],
    ['GET', '/api/v1/agent-sessions/s'],
    ['DELETE', '/api/v1/agent-sessions/s'],
  ] as const) {
    assert.equal((await send(url + path, { method })).status, 401, `${method} ${path}`);
  }
});

test('an agent is idle at first, active after a wake, and idle again after idleAfter', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const server = await startAgentServer(t, () => '');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url, { idleAfterMs: 1000 }), inner: scriptAgent('') },
    webhooks: { agents: { a: { sessionKey: 'fixed' } } },
    deps: { now: () => now },
  });
  const agents = async () => ((await gateway.admin.api('GET', '/api/v1/agents')).json as Json).items;
  assert.deepEqual(await agents(), [
    {
      name: 'a',
      type: 'http',
      state: 'idle',
      lastActiveAt: null,
      channel: 'none',
      webhook: true,
      sessionKey: 'fixed',
      queued: 0,
      running: 0,
    },
    {
      name: 'inner',
      type: 'command',
      state: 'idle',
      lastActiveAt: null,
      channel: 'none',
      webhook: false,
      sessionKey: null,
      queued: 0,
      running: 0,
    },
  ]);
  const woken = await gateway.post('/hooks/wake', { agent: 'a' });
  assert.deepEqual(woken.json, { status: 'ok', agent: 'a', state: 'active' });
  assert.equal((await agents())[0].state, 'active');
  await eventually(async () => (await gateway.runs()).every(({ status }) => status === 'succeeded'));
  assert.deepEqual(server.requests[0]?.json, {
    ...server.requests[0]?.json,
    kind: 'wake',
    message: null,
    session: 'fixed',
    history: [],
  });
  assert.equal(
    (await gateway.admin.api('GET', '/api/v1/agent-sessions')).text,
    '{"items":[],"nextCursor":null}',
    'a wake adds no message to a session',
  );
  now += 999;
  assert.equal((await agents())[0].state, 'active');
  now += 1;
  assert.equal((await agents())[0].state, 'idle');
});

test('runs are listed newest first, in pages and by filters, and one run is read in full', async (t) => {
  const server = await startAgentServer(t, ({ json }) =>
    json.message.startsWith('bad') ? { no: 1 } : json.message.repeat(3),
  );
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url), b: httpAgent(server.url) } });
  const long = 'long '.repeat(100);
  const ids: string[] = [];
  for (const [agent, text] of [
    ['a', 'one'],
    ['b', 'bad two'],
    ['a', long],
    ['b', '100% four'],
    ['a', 'five'],
  ] as const) {
    ids.push(await gateway.queue(agent, text, `session-${agent}`));
  }
  for (const id of ids) await gateway.run(id);
  const list = async (query: string) =>
    (await gateway.admin.api('GET', `/api/v1/runs?${query}`)).json as Json;
  const indexesOf = async (query: string) => (await list(query)).items.map(({ id }: Json) => ids.indexOf(id));

  assert.deepEqual(await indexesOf(''), [4, 3, 2, 1, 0]);
  assert.deepEqual(await indexesOf('agent=b'), [3, 1]);
  assert.deepEqual(await indexesOf('status=failed'), [1]);
  assert.deepEqual(await indexesOf('session=session-a'), [4, 2, 0]);
  assert.deepEqual(await indexesOf('search=FIVE'), [4]);
  assert.deepEqual(await indexesOf('search=0%25'), [3]);
  assert.deepEqual(await indexesOf('search=_'), []);
  const page = await list('limit=2');
  assert.deepEqual(page.items.length, 2);
  const lastPage = await list(`limit=3&cursor=${page.nextCursor}`);
  assert.deepEqual(
    [lastPage.items.map(({ id }: Json) => ids.indexOf(id)), lastPage.nextCursor],
    [[2, 1, 0], null],
  );
  assert.equal(lastPage.items[0].message, long.slice(0, 200));

  const run = (await gateway.admin.api('GET', `/api/v1/runs/${ids[2]}`)).json as Json;
  assert.equal(run.message, long);
  assert.equal(run.reply, long.repeat(3));
  assert.match(run.id, GUID);
  assert.deepEqual(run.deliveries, []);
  assert.match(run.startedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('an invalid request gets a problem that names the field', async (t) => {
  const gateway = await startGateway(t, {
    agents: { a: httpAgent('http://127.0.0.1:9/') },
    isStarted: false,
    webhooks: { agents: { a: { sessionKey: 'fixed' } } },
  });
  const cases: readonly [method: string, path: string, json: unknown, status: number, named: string][] = [
    ['GET', '/api/v1/runs?limit=0', undefined, 400, 'query.limit'],
    ['GET', '/api/v1/runs?limit=x', undefined, 400, 'query.limit'],
    ['GET', '/api/v1/runs?status=done', undefined, 400, 'query.status'],
    ['GET', '/api/v1/runs?cursor=x', undefined, 400, 'query.cursor'],
    ['GET', '/api/v1/agent-sessions?cursor=x', undefined, 400, 'query.cursor'],
    ['GET', '/api/v1/runs/x', undefined, 400, 'path.id'],
    ['GET', '/api/v1/runs/01900000-0000-7000-8000-000000000000', undefined, 404, 'not-found'],
    ['POST', '/api/v1/runs/01900000-0000-7000-8000-000000000000/cancel', undefined, 404, 'not-found'],
    ['POST', '/api/v1/runs/01900000-0000-7000-8000-000000000000/rerun', undefined, 404, 'not-found'],
    ['GET', '/api/v1/agent-sessions/none', undefined, 404, 'not-found'],
    ['DELETE', '/api/v1/agent-sessions/none', undefined, 404, 'not-found'],
    ['POST', '/api/v1/agents/none/messages', { message: 'x' }, 404, 'not-found'],
    ['POST', '/api/v1/agents/a/messages', {}, 400, 'body.message'],
    ['POST', '/api/v1/agents/a/messages', { message: ' ' }, 400, 'body.message'],
    ['POST', '/api/v1/agents/a/messages', { message: 'x', sessionKey: 'other' }, 409, 'conflict'],
    ['POST', '/api/v1/agents/a/messages', { message: 'x', sessionKey: 'a b' }, 400, 'body.sessionKey'],
  ];
  for (const [method, path, json, status, named] of cases) {
    const answer = await gateway.admin.api(method, path, { json });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.ok(answer.text.includes(named), answer.text);
  }
});

test('a message from the operator is queued like one from a webhook', async (t) => {
  const server = await startAgentServer(t, () => 'hello operator');
  const gateway = await startGateway(t, {
    agents: { inner: httpAgent(server.url) },
    webhooks: { agents: {} },
  });
  const answer = await gateway.admin.api('POST', '/api/v1/agents/inner/messages', {
    json: { message: 'hi', sessionKey: 'k' },
  });
  assert.equal(answer.status, 202);
  const { runId, session } = answer.json as Json;
  assert.equal(session, 'k');
  const run = await gateway.run(runId);
  assert.deepEqual([run.reply, run.origin], ['hello operator', 'api']);
});

test('cancelling a queued run prevents it, cancelling a running one ends it, cancelling a finished one is a conflict', async (t) => {
  const gateway = await startGateway(t, {
    agents: { a: scriptAgent('setInterval(() => {}, 1000)', { channel: { type: 'log' } }) },
    webhooks: { concurrency: 1, agents: { a: { sessionKey: 's' } } },
  });
  const running = await gateway.queue('a', 'one');
  const queued = await gateway.queue('a', 'two');
  await gateway.run(running, ({ status }) => status === 'running');
  const cancel = (id: string) => gateway.admin.api('POST', `/api/v1/runs/${id}/cancel`);
  for (const id of [queued, running]) {
    const answer = await cancel(id);
    assert.equal(answer.status, 200, answer.text);
    assert.equal((answer.json as Json).status, 'cancelled');
  }
  assert.equal((await gateway.store.runs.get(queued))?.attempt, 0);
  for (const id of [queued, running]) assert.equal((await cancel(id)).status, 409);
  await gateway.run(running, ({ delivery }) => delivery === 'delivered');
  const agents = (await gateway.admin.api('GET', '/api/v1/agents')).json as Json;
  assert.deepEqual([agents.items[0].queued, agents.items[0].running], [0, 0]);
});

test('rerunning makes a new run with the same message and session', async (t) => {
  let isBroken = true;
  const server = await startAgentServer(t, ({ json }, res) =>
    isBroken ? void res.writeHead(500).end() : `${json.history.length}`,
  );
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const id = await gateway.queue('a', 'x', 'k');
  assert.equal((await gateway.run(id)).status, 'failed');
  isBroken = false;
  const rerun = await gateway.admin.api('POST', `/api/v1/runs/${id}/rerun`);
  assert.equal(rerun.status, 202);
  const run = await gateway.run((rerun.json as Json).runId);
  assert.deepEqual(
    [run.rerunOf, run.message, run.session, run.reply],
    [id, 'x', 'k', '0'],
    'the failed run added nothing to the history',
  );
});

test('sessions are listed, searched, read and deleted', async (t) => {
  const server = await startAgentServer(t, ({ json }) => `re: ${json.message}`);
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url), b: httpAgent(server.url) } });
  for (const [agent, key] of [
    ['a', 'k1'],
    ['b', 'k2'],
    ['a', 'k3'],
    ['a', 'k1'],
  ] as const) {
    await gateway.run(await gateway.queue(agent, `to ${key}`, key));
  }
  const list = async (query: string) =>
    (await gateway.admin.api('GET', `/api/v1/agent-sessions?${query}`)).json as Json;
  const keys = async (query: string) => (await list(query)).items.map(({ key }: Json) => key);
  assert.deepEqual(await keys(''), ['k1', 'k3', 'k2']);
  assert.deepEqual(await keys('agent=b'), ['k2']);
  assert.deepEqual(await keys('search=3'), ['k3']);
  const page = await list('limit=1');
  assert.deepEqual(await keys(`cursor=${encodeURIComponent(page.nextCursor)}`), ['k3', 'k2']);

  const session = (await gateway.admin.api('GET', '/api/v1/agent-sessions/k1')).json as Json;
  assert.deepEqual(
    [session.key, session.agent, session.messages, session.bytes],
    ['k1', 'a', 4, 2 * ('to k1'.length + 're: to k1'.length)],
  );
  assert.deepEqual(
    session.history.map(({ role, content }: Json) => [role, content]),
    [
      ['user', 'to k1'],
      ['assistant', 're: to k1'],
      ['user', 'to k1'],
      ['assistant', 're: to k1'],
    ],
  );
  assert.equal((await gateway.admin.api('DELETE', '/api/v1/agent-sessions/k1')).status, 204);
  assert.deepEqual(await keys(''), ['k3', 'k2']);
  const nextRun = await gateway.run(await gateway.queue('a', 'again', 'k1'));
  assert.deepEqual(server.requests.at(-1)?.json.history, []);
  assert.equal(nextRun.status, 'succeeded');
});

for (const [name, limits, stored] of [
  ['by count', { messages: 4, maxBytes: 10_000 }, ['m3', 'm3!', 'm4', 'm4!']],
  ['by an odd count, which keeps whole exchanges', { messages: 3, maxBytes: 10_000 }, ['m4', 'm4!']],
  ['by bytes', { messages: 100, maxBytes: 11 }, ['m3', 'm3!', 'm4', 'm4!']],
  ['by bytes at the edge', { messages: 100, maxBytes: 9 }, ['m4', 'm4!']],
  ['to nothing', { messages: 0, maxBytes: 10_000 }, []],
] as const) {
  test(`history is bounded ${name}`, async (t) => {
    const server = await startAgentServer(t, ({ json }) => `${json.message}!`);
    const gateway = await startGateway(t, {
      agents: { a: httpAgent(server.url) },
      webhooks: { history: limits, agents: { a: { sessionKey: 'k' } } },
    });
    for (let i = 0; i < 5; i++) await gateway.run(await gateway.queue('a', `m${i}`));
    const history = await gateway.store.agentSessions.messages('k');
    assert.deepEqual(
      history.map(({ content }) => content),
      stored,
    );
    const session = await gateway.store.agentSessions.get('k');
    assert.equal(session?.messages, stored.length);
    assert.equal(session?.bytes, stored.join('').length);
  });
}

test('the retention removes old runs with their deliveries, and old sessions', async (t) => {
  const day = 86_400_000;
  let now = Date.UTC(2026, 0, 1);
  const server = await startAgentServer(t, () => 'x');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url, { channel: { type: 'log' } }) },
    deps: { now: () => now },
  });
  const { runs, agentSessions, deliveries } = gateway.store;
  const old = await gateway.queue('a', 'old', 'old');
  await gateway.run(old, ({ delivery }) => delivery === 'delivered');
  now += 10 * day;
  const fresh = await gateway.queue('a', 'fresh', 'fresh');
  await gateway.run(fresh, ({ delivery }) => delivery === 'delivered');

  assert.equal(await runs.trim(now - day, now, 1), true, 'it removed as many as it may: more may be old');
  assert.equal(await runs.trim(now - day, now, 1), false);
  await agentSessions.trim(now - day);
  assert.deepEqual(
    (await gateway.runs()).map(({ id }) => id),
    [fresh],
  );
  assert.deepEqual(await deliveries.ofRun(old), []);
  assert.equal((await deliveries.ofRun(fresh)).length, 1);
  assert.deepEqual(
    (await agentSessions.list({ limit: 10 })).map(({ key }) => key),
    ['fresh'],
  );
});

test('the retention keeps old runs that wait, run, or have a reply to deliver', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  // It answers agents, refuses deliveries, and never answers the message `hold`.
  const server = await startAgentServer(t, ({ path, json }, res) => {
    if (path === '/replies') return void res.writeHead(503).end();
    return json.message === 'hold' ? new Promise<never>(() => {}) : 'done';
  });
  const channel = {
    type: 'http',
    url: `${server.url}/replies`,
    secret: null,
    timeoutMs: 10_000,
    maxTries: 9,
    backoffMs: 60_000,
  } as const;
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(server.url), undelivered: httpAgent(server.url, { channel }) },
    deps: { now: () => now },
  });
  const { runs } = gateway.store;
  const finished = await gateway.queue('a', 'finished', 'other');
  await gateway.run(finished);
  const undelivered = await gateway.queue('undelivered', 'x', 'third');
  await gateway.run(undelivered, ({ delivery }) => delivery === 'pending');
  const running = await gateway.queue('a', 'hold', 'same');
  const waiting = await gateway.queue('a', 'next', 'same');
  await gateway.run(running, ({ status }) => status === 'running');

  now += 365 * 86_400_000;
  assert.equal(await runs.trim(now, now, 100), false);
  const kept = (await gateway.runs()).map(({ id, status, delivery }) => [id, status, delivery]);
  assert.deepEqual(kept, [
    [undelivered, 'succeeded', 'pending'],
    [running, 'running', 'none'],
    [waiting, 'queued', 'none'],
  ]);
});
