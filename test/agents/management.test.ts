// What the operator sees and does under /api/v1: agents, runs, cancelling, running again, sessions; and what is kept for how long.
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

test('agents: idle at first, active from a wake on, idle again after idleAfter', async (t) => {
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
    'no message entered a session',
  );
  now += 999;
  assert.equal((await agents())[0].state, 'active');
  now += 1;
  assert.equal((await agents())[0].state, 'idle');
});

test('runs: a list newest first in pages, filters, and one in full', async (t) => {
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
  const found = async (query: string) => (await list(query)).items.map(({ id }: Json) => ids.indexOf(id));

  assert.deepEqual(await found(''), [4, 3, 2, 1, 0]);
  assert.deepEqual(await found('agent=b'), [3, 1]);
  assert.deepEqual(await found('status=failed'), [1]);
  assert.deepEqual(await found('session=session-a'), [4, 2, 0]);
  assert.deepEqual(await found('search=FIVE'), [4]);
  assert.deepEqual(await found('search=0%25'), [3]);
  assert.deepEqual(await found('search=_'), []);
  const page = await list('limit=2');
  assert.deepEqual(page.items.length, 2);
  const rest = await list(`limit=3&cursor=${page.nextCursor}`);
  assert.deepEqual([rest.items.map(({ id }: Json) => ids.indexOf(id)), rest.nextCursor], [[2, 1, 0], null]);
  assert.equal(rest.items[0].message, long.slice(0, 200));

  const one = (await gateway.admin.api('GET', `/api/v1/runs/${ids[2]}`)).json as Json;
  assert.equal(one.message, long);
  assert.equal(one.reply, long.repeat(3));
  assert.match(one.id, GUID);
  assert.deepEqual(one.deliveries, []);
  assert.match(one.startedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('an invalid request gets a problem that names the field', async (t) => {
  const gateway = await startGateway(t, {
    agents: { a: httpAgent('http://127.0.0.1:9/') },
    isStarted: false,
    webhooks: { agents: { a: { sessionKey: 'fixed' } } },
  });
  const cases: readonly [string, string, unknown, number, string][] = [
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
  for (const [method, path, json, status, word] of cases) {
    const answer = await gateway.admin.api(method, path, { json });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.ok(answer.text.includes(word), answer.text);
  }
});

test('a message from the operator is queued as a webhook would', async (t) => {
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

test('cancel: a queued run never starts, a running one is ended, a finished one is a conflict', async (t) => {
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

test('run again: a new run with the same message and session', async (t) => {
  let isBroken = true;
  const server = await startAgentServer(t, ({ json }, res) =>
    isBroken ? void res.writeHead(500).end() : `${json.history.length}`,
  );
  const gateway = await startGateway(t, { agents: { a: httpAgent(server.url) } });
  const id = await gateway.queue('a', 'x', 'k');
  assert.equal((await gateway.run(id)).status, 'failed');
  isBroken = false;
  const again = await gateway.admin.api('POST', `/api/v1/runs/${id}/rerun`);
  assert.equal(again.status, 202);
  const run = await gateway.run((again.json as Json).runId);
  assert.deepEqual(
    [run.rerunOf, run.message, run.session, run.reply],
    [id, 'x', 'k', '0'],
    'what failed did not enter the session',
  );
});

test('sessions: listed, read, searched and forgotten', async (t) => {
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

  const one = (await gateway.admin.api('GET', '/api/v1/agent-sessions/k1')).json as Json;
  assert.deepEqual(
    [one.key, one.agent, one.messages, one.bytes],
    ['k1', 'a', 4, 2 * ('to k1'.length + 're: to k1'.length)],
  );
  assert.deepEqual(
    one.history.map(({ role, content }: Json) => [role, content]),
    [
      ['user', 'to k1'],
      ['assistant', 're: to k1'],
      ['user', 'to k1'],
      ['assistant', 're: to k1'],
    ],
  );
  assert.equal((await gateway.admin.api('DELETE', '/api/v1/agent-sessions/k1')).status, 204);
  assert.deepEqual(await keys(''), ['k3', 'k2']);
  const after = await gateway.run(await gateway.queue('a', 'anew', 'k1'));
  assert.deepEqual(server.requests.at(-1)?.json.history, []);
  assert.equal(after.status, 'succeeded');
});

for (const [name, limits, kept] of [
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
      kept,
    );
    const session = await gateway.store.agentSessions.get('k');
    assert.equal(session?.messages, kept.length);
    assert.equal(session?.bytes, kept.join('').length);
  });
}

test('what is older than the retention goes: runs with their deliveries, sessions, keys; what is pending stays', async (t) => {
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

  assert.equal(
    await runs.trim(now - day, now, 1),
    true,
    'as many as allowed were removed: there may be more',
  );
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
