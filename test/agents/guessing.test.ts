// Wrong tokens: failures are counted per source before the token is compared, for a limited time, in a table of limited size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttemptLimit } from '../../src/core/auth/attempt-limit.js';
import { startGateway } from '../helpers/gateway.js';
import { hidden, hookSettings, httpAgent, SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';

const message = { agent: 'a', message: 'x' };
const wrongToken = { authorization: 'Bearer wrong' };
const agents = { a: httpAgent('http://127.0.0.1:9/') };
const webhooks = { maxFailuresPerSource: 5, agents: { a: { sessionKey: null } } };

test('after the allowed number of failures even the correct token is refused until the window has passed', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const gateway = await startGateway(t, {
    agents,
    webhooks,
    isStarted: false,
    deps: { monotonicNow: () => now },
  });
  const statuses = [];
  for (let i = 0; i < 7; i++) statuses.push((await gateway.post('/hooks/agent', message, wrongToken)).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  const right = await gateway.post('/hooks/agent', message);
  assert.equal(right.status, 429);
  assert.equal(right.headers['retry-after'], '60');
  now += 59_999;
  assert.equal((await gateway.post('/hooks/agent', message)).headers['retry-after'], '1');
  now += 1;
  assert.equal((await gateway.post('/hooks/agent', message)).status, 200);
});

test('parallel requests have no more attempts than sequential ones', async (t) => {
  const gateway = await startGateway(t, { agents, webhooks, isStarted: false });
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => gateway.post('/hooks/agent', message, wrongToken)),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.equal(answers.filter(({ status }) => status === 429).length, 55);
});

test('correct tokens are not counted', async (t) => {
  const gateway = await startGateway(t, { agents, webhooks, isStarted: false });
  for (let i = 0; i < 4; i++) await gateway.post('/hooks/agent', message, wrongToken);
  const answers = await Promise.all(Array.from({ length: 60 }, () => gateway.post('/hooks/agent', message)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal((await gateway.post('/hooks/agent', message, wrongToken)).status, 401);
  assert.equal((await gateway.post('/hooks/agent', message, wrongToken)).status, 429);
});

test('a token in the URL is not compared and counts as a failure', async (t) => {
  const gateway = await startGateway(t, { agents, webhooks, isStarted: false });
  for (let i = 0; i < 5; i++)
    assert.equal((await gateway.post(`/hooks/agent?token=${SECRET}`, message)).status, 400);
  assert.equal((await gateway.post('/hooks/agent', message)).status, 429);
});

test('failures behind a trusted proxy are counted per IPv4 address and per IPv6 /64', async (t) => {
  const gateway = await startGateway(t, {
    agents,
    webhooks,
    isStarted: false,
    trustedProxies: ['127.0.0.1'],
  });
  const statusFrom = async (address: string) =>
    (await gateway.post('/hooks/agent', message, { ...wrongToken, 'x-forwarded-for': address })).status;
  for (let i = 0; i < 5; i++) await statusFrom('203.0.113.7');
  assert.equal(await statusFrom('203.0.113.7'), 429);
  assert.equal(await statusFrom('::ffff:203.0.113.7'), 429);
  assert.equal(await statusFrom('203.0.113.8'), 401);
  for (let i = 0; i < 5; i++) await statusFrom(`2001:db8:0:1::${i}`);
  assert.equal(await statusFrom('2001:db8:0:1:ffff::1'), 429);
  assert.equal(await statusFrom('2001:db8:0:2::1'), 401);
});

test('the table of sources is bounded: it forgets the source that was not seen for the longest time', () => {
  const limit = createAttemptLimit({ maxFailures: 1, windowMs: 1000, maxSources: 3, now: () => 0 });
  for (const source of ['a', 'b', 'c']) assert.equal(limit.attempt(source), null);
  for (const source of ['a', 'b', 'c']) assert.equal(limit.attempt(source), 1000);
  assert.equal(limit.attempt('d'), null);
  assert.equal(limit.attempt('a'), null, 'a was forgotten for d');
  assert.equal(limit.attempt('c'), 1000);
});

test('after a reload the new secret is valid, and the previous one as long as it is configured', async (t) => {
  const gateway = await startGateway(t, { agents, webhooks, isStarted: false });
  const status = async (token: string) =>
    (await gateway.post('/hooks/agent', message, { authorization: `Bearer ${token}` })).status;
  gateway.hooks.prepareReload(
    hookSettings({ secret: hidden('new-secret'), previousSecret: hidden(SECRET) }),
  )();
  assert.deepEqual([await status('new-secret'), await status(SECRET)], [200, 200]);
  gateway.hooks.prepareReload(hookSettings({ secret: hidden('new-secret') }))();
  assert.deepEqual([await status('new-secret'), await status(SECRET)], [200, 401]);
  assert.throws(
    () => gateway.hooks.prepareReload(hookSettings({ secret: null, secretFile: '/no/such/file' }))(),
    /cannot be read/,
  );
  assert.equal(await status('new-secret'), 200, 'a failed reload keeps the secret');
});

test('a secret outside ASCII is compared as UTF-8 bytes', async (t) => {
  const secret = 'пароль-密码-of-enough-characters-here';
  const gateway = await startGateway(t, {
    agents,
    isStarted: false,
    webhooks: { ...webhooks, secret: hidden(secret) },
  });
  const bytes = Buffer.from(secret).toString('latin1');
  // Node would send a text body together with the head, and encode both as UTF-8, the head a second time.
  const body = Buffer.from(JSON.stringify(message));
  const headers = { authorization: `Bearer ${bytes}`, 'content-type': 'application/json' };
  assert.equal((await send(`${gateway.url}/hooks/agent`, { method: 'POST', headers, body })).status, 200);
});

test('neither secrets nor messages are logged above level debug', async (t) => {
  const gateway = await startGateway(t, { agents, webhooks });
  const id = await gateway.queue('a', 'the-private-message');
  await gateway.run(id);
  await gateway.post('/hooks/agent', message, { authorization: 'Bearer a-wrong-secret' });
  await gateway.post('/hooks/agent?token=in-the-address', message);
  const shown = JSON.stringify(gateway.lines.filter(({ level }) => level !== 'debug'));
  for (const text of [SECRET, 'the-private-message', 'a-wrong-secret', 'in-the-address']) {
    assert.ok(!shown.includes(text), text);
  }
  assert.equal(gateway.lines.filter(({ msg }) => msg === 'run finished').length, 1);
  assert.ok(JSON.stringify(gateway.lines).includes('the-private-message'), 'level debug shows messages');
});
