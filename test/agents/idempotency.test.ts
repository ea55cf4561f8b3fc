// Repeated requests: the same key and request make one run, also at once and after a restart.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway } from '../helpers/gateway.js';
import { httpAgent } from '../helpers/hooks.js';

const agents = { free: httpAgent('http://127.0.0.1:9/') };
const message = { agent: 'free', message: 'pay once' };
const key = { 'idempotency-key': 'order-17' };

test('a repeated key and request get the first answer, and make no second run', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  const first = await gateway.post('/hooks/agent', message, key);
  const second = await gateway.post('/hooks/agent', message, key);
  assert.equal(second.status, 200);
  assert.equal(second.text, first.text);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal((await gateway.runs()).length, 1);
});

test('the key may be in the header or in the body, and the fields in any order', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  const first = await gateway.post('/hooks/agent', message, key);
  const reordered = { message: message.message, idempotencyKey: 'order-17', agent: 'free' };
  assert.equal((await gateway.post('/hooks/agent', reordered)).text, first.text);
  assert.equal((await gateway.runs()).length, 1);
});

test('a key that is reused with another body or another path is refused with 422', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  await gateway.post('/hooks/agent', message, key);
  for (const body of [
    { ...message, message: 'pay twice' },
    { ...message, sessionKey: 's' },
    { ...message, extra: 1 },
  ]) {
    assert.equal((await gateway.post('/hooks/agent', body, key)).status, 422);
  }
  assert.equal((await gateway.post('/hooks/wake', message, key)).status, 422);
  assert.equal((await gateway.runs()).length, 1);
});

test('a refused request does not use up its key', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  assert.equal((await gateway.post('/hooks/agent', { ...message, agent: 'unknown' }, key)).status, 404);
  assert.equal((await gateway.post('/hooks/agent', message, key)).status, 200);
});

test('fifty requests at once with one key make one run and get one answer', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => gateway.post('/hooks/agent', message, key)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await gateway.runs()).length, 1);
});

test('of two different requests at once with one key, one is refused with 422', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  for (let round = 0; round < 20; round++) {
    const headers = { 'idempotency-key': `round-${round}` };
    const answers = await Promise.all([
      gateway.post('/hooks/agent', message, headers),
      gateway.post('/hooks/agent', { ...message, message: 'other' }, headers),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
  }
});

test('a key is remembered for 24 hours, also over a restart', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-keys-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  let now = Date.UTC(2026, 0, 1);
  const deps = { now: () => now };
  const first = await startGateway(t, { agents, isStarted: false, dataDir, deps });
  const answer = await first.post('/hooks/agent', message, key);
  await first.stop();

  const second = await startGateway(t, { agents, isStarted: false, dataDir, deps });
  assert.equal((await second.post('/hooks/agent', message, key)).text, answer.text);
  now += 24 * 3_600_000 - 1;
  assert.equal((await second.post('/hooks/agent', message, key)).text, answer.text);
  now += 1;
  const later = await second.post('/hooks/agent', message, key);
  assert.equal(later.status, 200);
  assert.notEqual(later.text, answer.text);
});

test('a repeated request is answered even when the queue is full', async (t) => {
  const gateway = await startGateway(t, {
    agents,
    isStarted: false,
    webhooks: { queue: { perAgent: 1, total: 1 } },
  });
  const first = await gateway.post('/hooks/agent', message, key);
  assert.equal((await gateway.post('/hooks/agent', message)).status, 429);
  assert.equal((await gateway.post('/hooks/agent', message, key)).text, first.text);
  assert.equal((await gateway.post('/hooks/agent', { ...message, message: 'x' }, key)).status, 422);
});

test('a repeated wake makes one run', async (t) => {
  const gateway = await startGateway(t, { agents, isStarted: false });
  const wake = () => gateway.post('/hooks/wake', { agent: 'free' }, key);
  assert.equal((await wake()).text, (await wake()).text);
  assert.equal((await gateway.runs()).length, 1);
});
