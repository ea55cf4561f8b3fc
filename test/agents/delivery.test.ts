// Delivery of replies: signatures, retries, files, and the history of attempts.
import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { ChannelSettings } from '../../src/agents/context.js';
import { startAgentServer } from '../helpers/agent-server.js';
import { eventually } from '../helpers/eventually.js';
import { startGateway } from '../helpers/gateway.js';
import { hidden, httpAgent } from '../helpers/hooks.js';
import { scaled } from '../helpers/scale.js';

const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const http = (
  url: string,
  over: Partial<Extract<ChannelSettings, { type: 'http' }>> = {},
): ChannelSettings => ({
  type: 'http',
  url,
  secret: hidden(WHSEC),
  timeoutMs: 30_000,
  maxTries: 4,
  backoffMs: 10,
  ...over,
});
const file: ChannelSettings = { type: 'file', path: 'replies.jsonl' };

test('http: the reply is signed, and the reference implementation verifies it', async (t) => {
  const model = await startAgentServer(t, () => 'a reply: 你好');
  const receiver = await startAgentServer(t, () => 'thanks');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: http(`${receiver.url}/in`) }) },
  });
  const id = await gateway.queue('a', 'x', 's');
  const run = await gateway.run(id, ({ delivery }) => delivery === 'delivered');
  const [request] = receiver.requests;
  assert.ok(request && receiver.requests.length === 1);
  assert.equal(request.path, '/in');
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['webhook-id'], id);
  const verified = new Webhook(WHSEC).verify(request.body, request.headers as Record<string, string>);
  assert.deepEqual(verified, {
    runId: id,
    agent: 'a',
    session: 's',
    status: 'succeeded',
    reply: 'a reply: 你好',
    startedAt: new Date(run.startedAt ?? 0).toISOString(),
    finishedAt: new Date(run.finishedAt ?? 0).toISOString(),
  });
  assert.throws(() =>
    new Webhook(WHSEC).verify(`${request.body} `, request.headers as Record<string, string>),
  );
});

test('http: without a secret a delivery has no signature', async (t) => {
  const receiver = await startAgentServer(t, () => 'ok');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(receiver.url, { channel: http(`${receiver.url}/in`, { secret: null }) }) },
  });
  await gateway.run(await gateway.queue('a', 'x'), ({ delivery }) => delivery === 'delivered');
  assert.equal(receiver.requests[1]?.headers['webhook-signature'], undefined);
});

test('http: a failed delivery is retried with the same id until the receiver accepts it, and every attempt is stored', async (t) => {
  const model = await startAgentServer(t, () => 'reply');
  let failuresLeft = 3;
  const receiver = await startAgentServer(t, (_, res) =>
    failuresLeft-- > 0 ? void res.writeHead(failuresLeft === 1 ? 302 : 500).end('later') : 'ok',
  );
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: http(receiver.url) }) },
  });
  const id = await gateway.queue('a', 'x');
  const run = await gateway.run(id, ({ delivery }) => delivery === 'delivered');
  assert.equal(run.deliveryTries, 4);
  assert.equal(run.nextDeliveryAt, null);
  assert.deepEqual([...new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))], [id]);
  const attempts = await gateway.store.deliveries.ofRun(id);
  assert.deepEqual(
    attempts.map(({ attempt, channel, delivered, detail }) => [attempt, channel, delivered, detail]),
    [
      [1, 'http', false, 'HTTP 500: later'],
      [2, 'http', false, 'HTTP 302: later'],
      [3, 'http', false, 'HTTP 500: later'],
      [4, 'http', true, 'HTTP 200'],
    ],
  );
});

test('http: after the last attempt the delivery fails, and the run keeps its reply', async (t) => {
  const model = await startAgentServer(t, () => 'reply');
  const receiver = await startAgentServer(t, (_, res) => void res.writeHead(500).end());
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: http(receiver.url, { maxTries: 3 }) }) },
  });
  const run = await gateway.run(await gateway.queue('a', 'x'), ({ delivery }) => delivery === 'failed');
  assert.deepEqual(
    [run.status, run.reply, run.deliveryTries, run.nextDeliveryAt],
    ['succeeded', 'reply', 3, null],
  );
  assert.equal(receiver.requests.length, 3);
});

test('http: 410 fails the delivery without a retry', async (t) => {
  const receiver = await startAgentServer(t, ({ path }, res) =>
    path === '/in' ? void res.writeHead(410).end() : 'reply',
  );
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(receiver.url, { channel: http(`${receiver.url}/in`) }) },
  });
  const run = await gateway.run(await gateway.queue('a', 'x'), ({ delivery }) => delivery === 'failed');
  assert.equal(run.deliveryTries, 1);
});

test('http: Retry-After postpones the next attempt, and an attempt without an answer fails', async (t) => {
  const receiver = await startAgentServer(t, ({ path }, res) => {
    if (path === '/silent') return undefined;
    return path === '/later' ? void res.writeHead(429, { 'retry-after': '600' }).end() : 'reply';
  });
  const gateway = await startGateway(t, {
    agents: {
      later: httpAgent(receiver.url, { channel: http(`${receiver.url}/later`) }),
      silent: httpAgent(receiver.url, { channel: http(`${receiver.url}/silent`, { timeoutMs: 100 }) }),
    },
  });
  const wasTried = ({ deliveryTries }: { readonly deliveryTries: number }) => deliveryTries > 0;
  const later = await gateway.run(await gateway.queue('later', 'x'), wasTried);
  assert.ok((later.nextDeliveryAt ?? 0) - Date.now() > 500_000);
  const silent = await gateway.run(await gateway.queue('silent', 'x'), wasTried);
  const [first] = await gateway.store.deliveries.ofRun(silent.id);
  assert.equal(first?.detail, 'no answer within 100 ms');
});

test('file: two agents append whole lines to one file at the same time', async (t) => {
  const model = await startAgentServer(t, ({ json }) => `${json.message}`);
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: file }), b: httpAgent(model.url, { channel: file }) },
  });
  const long = 'x'.repeat(100_000);
  const ids = await Promise.all(
    Array.from({ length: 16 }, (_, i) => gateway.queue(i % 2 ? 'a' : 'b', `${i} ${long}`)),
  );
  for (const id of ids) await gateway.run(id, ({ delivery }) => delivery === 'delivered');
  const lines = (await readFile(join(gateway.dataDir, 'replies.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ runId }) => runId).sort(), [...ids].sort());
});

test('file: a new line begins after a line that a crash cut short', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-file-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const path = join(dataDir, 'deep/er/replies.jsonl');
  await mkdir(join(dataDir, 'deep/er'), { recursive: true });
  await appendFile(path, '{"runId":"torn');
  const model = await startAgentServer(t, () => 'reply');
  const gateway = await startGateway(t, {
    dataDir,
    agents: { a: httpAgent(model.url, { channel: { type: 'file', path } }) },
  });
  const id = await gateway.queue('a', 'x');
  await gateway.run(id, ({ delivery }) => delivery === 'delivered');
  const lines = (await readFile(path, 'utf8')).split('\n');
  assert.equal(lines[0], '{"runId":"torn');
  assert.equal(JSON.parse(lines[1] ?? '').runId, id);
});

test('file: a delivery to a path that cannot be written is retried', async (t) => {
  const model = await startAgentServer(t, () => 'reply');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: { type: 'file', path: '/proc/no/file' } }) },
  });
  const run = await gateway.run(await gateway.queue('a', 'x'), ({ deliveryTries }) => deliveryTries === 1);
  assert.equal(run.delivery, 'pending');
});

test('log: the reply is a line of the log; none: the reply is not delivered', async (t) => {
  const model = await startAgentServer(t, () => 'for the log');
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: { type: 'log' } }), b: httpAgent(model.url) },
  });
  await gateway.run(await gateway.queue('a', 'x'), ({ delivery }) => delivery === 'delivered');
  const line = gateway.lines.find(({ msg }) => msg === 'agent reply');
  assert.ok(line);
  assert.equal((line['delivery'] as { reply: string }).reply, 'for the log');
  assert.equal((await gateway.run(await gateway.queue('b', 'x'))).delivery, 'none');
});

test('a failed run is delivered with its error, and a wake only if its reply is not empty', async (t) => {
  const model = await startAgentServer(t, ({ json }, res) =>
    json.kind === 'wake'
      ? { reply: json.session === 'loud' ? 'awake!' : '' }
      : void res.writeHead(500).end('broken'),
  );
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(model.url, { channel: file }), loud: httpAgent(model.url, { channel: file }) },
    webhooks: { agents: { a: { sessionKey: null }, loud: { sessionKey: 'loud' } } },
  });
  await gateway.run(await gateway.queue('a', 'x'), ({ delivery }) => delivery === 'delivered');
  for (const agent of ['a', 'loud']) assert.equal((await gateway.post('/hooks/wake', { agent })).status, 200);
  await eventually(
    async () => (await gateway.runs()).filter(({ status }) => status === 'succeeded').length === 2,
  );
  await eventually(async () => (await gateway.runs()).every(({ delivery }) => delivery !== 'pending'));
  const lines = (await readFile(join(gateway.dataDir, 'replies.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ status, reply, error }) => [status, reply, error]),
    [
      ['failed', null, 'HTTP 500: broken'],
      ['succeeded', 'awake!', undefined],
    ],
  );
});

test('a pending delivery continues after a restart', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-deliver-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const receiver = await startAgentServer(t, ({ path }, res) =>
    path === '/in' ? void res.writeHead(500).end() : 'reply',
  );
  const channel = http(`${receiver.url}/in`, { backoffMs: 100, maxTries: 100 });
  const agents = { a: httpAgent(receiver.url, { channel }) };
  const first = await startGateway(t, { agents, dataDir });
  const id = await first.queue('a', 'x');
  await first.run(id, ({ deliveryTries }) => deliveryTries >= 1);
  await first.stop();
  receiver.answer = () => 'ok';
  const second = await startGateway(t, { agents, dataDir });
  const run = await second.run(id, ({ delivery }) => delivery === 'delivered');
  assert.ok(run.deliveryTries >= 2);
});

const MANY = scaled(40);

test(`${MANY} deliveries that are due at once are each made once`, async (t) => {
  const receiver = await startAgentServer(t, ({ path }) => (path === '/in' ? 'ok' : 'reply'));
  const gateway = await startGateway(t, {
    agents: { a: httpAgent(receiver.url, { channel: http(`${receiver.url}/in`) }) },
  });
  const ids = await Promise.all(Array.from({ length: MANY }, (_, i) => gateway.queue('a', String(i))));
  for (const id of ids) await gateway.run(id, ({ delivery }) => delivery === 'delivered');
  const delivered = receiver.requests
    .filter(({ path }) => path === '/in')
    .map(({ headers }) => headers['webhook-id']);
  assert.deepEqual(delivered.sort(), [...ids].sort());
});
