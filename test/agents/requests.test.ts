// What /hooks answers to every kind of request: token, path, method, media type, body, fields, keys and sizes.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { startGateway } from '../helpers/gateway.js';
import { hidden, httpAgent, SECRET } from '../helpers/hooks.js';
import { exchange, type HttpAnswer, parseExchange, send } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

const BEARER = { authorization: `Bearer ${SECRET}` };
const JSON_TYPE = { 'content-type': 'application/json' };
const GOOD = { ...BEARER, ...JSON_TYPE };
const LIMIT = 256 * 1024;
const message = { agent: 'free', message: 'hello' };

interface Case {
  readonly name: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  /** Sent as it is; an object as JSON. */
  readonly body?: unknown;
  readonly status: number;
  readonly error?: RegExp;
}

const tokens: Case[] = [
  { name: 'the right token', headers: GOOD, status: 200 },
  { name: 'the scheme in lower case', headers: { ...GOOD, authorization: `bearer ${SECRET}` }, status: 200 },
  { name: 'the scheme in upper case', headers: { ...GOOD, authorization: `BEARER ${SECRET}` }, status: 200 },
  {
    name: 'several spaces after the scheme',
    headers: { ...GOOD, authorization: `Bearer   ${SECRET}` },
    status: 200,
  },
  {
    name: 'the previous secret',
    headers: { ...GOOD, authorization: 'Bearer the-previous-secret' },
    status: 200,
  },
  { name: 'no header', headers: JSON_TYPE, status: 401 },
  { name: 'an empty header', headers: { ...JSON_TYPE, authorization: '' }, status: 401 },
  { name: 'the scheme alone', headers: { ...JSON_TYPE, authorization: 'Bearer' }, status: 401 },
  { name: 'the scheme and a space', headers: { ...JSON_TYPE, authorization: 'Bearer ' }, status: 401 },
  { name: 'the token without a scheme', headers: { ...JSON_TYPE, authorization: SECRET }, status: 401 },
  { name: 'another scheme', headers: { ...JSON_TYPE, authorization: `Token ${SECRET}` }, status: 401 },
  { name: 'Basic', headers: { ...JSON_TYPE, authorization: `Basic ${btoa(`x:${SECRET}`)}` }, status: 401 },
  {
    name: 'the token without its last character',
    headers: { ...JSON_TYPE, authorization: `Bearer ${SECRET.slice(0, -1)}` },
    status: 401,
  },
  {
    name: 'the token and one more character',
    headers: { ...JSON_TYPE, authorization: `Bearer ${SECRET}x` },
    status: 401,
  },
  {
    name: 'the token in upper case',
    headers: { ...JSON_TYPE, authorization: `Bearer ${SECRET.toUpperCase()}` },
    status: 401,
  },
  {
    name: 'the token in quotes',
    headers: { ...JSON_TYPE, authorization: `Bearer "${SECRET}"` },
    status: 401,
  },
  {
    name: 'the token twice in one header',
    headers: { ...JSON_TYPE, authorization: `Bearer ${SECRET}, Bearer ${SECRET}` },
    status: 401,
  },
  {
    name: 'a tab instead of a space',
    headers: { ...JSON_TYPE, authorization: `Bearer\t${SECRET}` },
    status: 401,
  },
  { name: 'another header', headers: { ...JSON_TYPE, 'x-webhook-secret': SECRET }, status: 401 },
  { name: 'a cookie', headers: { ...JSON_TYPE, cookie: `token=${SECRET}` }, status: 401 },
  {
    name: 'the digest of the token',
    headers: { ...JSON_TYPE, authorization: 'Bearer 0'.padEnd(71, '0') },
    status: 401,
  },
  ...['token', 'access_token', 'secret', 'TOKEN', 'api_key'].flatMap((name) => [
    {
      name: `?${name}= and no header`,
      path: `/hooks/agent?${name}=${SECRET}`,
      headers: JSON_TYPE,
      status: 400,
      error: /Authorization header/,
    },
    {
      name: `?${name}= beside the header`,
      path: `/hooks/agent?${name}=${SECRET}`,
      headers: GOOD,
      status: 400,
      error: /Authorization header/,
    },
  ]),
  { name: 'another query parameter', path: '/hooks/agent?source=ci', headers: GOOD, status: 200 },
];

const routes: Case[] = [
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].flatMap((method) => [
    { name: `${method} with the token`, method, headers: BEARER, status: 405 },
    { name: `${method} without the token`, method, headers: {}, status: 401 },
    { name: `${method} of wake`, path: '/hooks/wake', method, headers: BEARER, status: 405 },
  ]),
  ...[
    '/hooks',
    '/hooks/',
    '/hooks/other',
    '/hooks/agent/',
    '/hooks/agent/x',
    '/hooks/AGENT',
    '/hooks//agent',
    '/hooks/constructor',
    '/hooks/__proto__',
  ].flatMap((path) => [
    { name: `${path} with the token`, path, headers: GOOD, status: 404 },
    { name: `${path} without the token`, path, headers: {}, status: 401 },
  ]),
];

const media: Case[] = [
  {
    name: 'with a charset',
    headers: { ...BEARER, 'content-type': 'application/json; charset=utf-8' },
    status: 200,
  },
  {
    name: 'with a charset in capitals',
    headers: { ...BEARER, 'content-type': 'Application/JSON;charset=UTF-8' },
    status: 200,
  },
  {
    name: 'with a quoted charset',
    headers: { ...BEARER, 'content-type': 'application/json; charset="utf-8"' },
    status: 200,
  },
  { name: 'identity coding', headers: { ...GOOD, 'content-encoding': 'identity' }, status: 200 },
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/xml',
    '*/*',
    '',
  ].map((type) => ({ name: `type ${type}`, headers: { ...BEARER, 'content-type': type }, status: 415 })),
  { name: 'no type', headers: BEARER, status: 415 },
  ...['gzip', 'br', 'deflate', 'gzip, identity', 'zstd'].map((coding) => ({
    name: `coding ${coding}`,
    headers: { ...GOOD, 'content-encoding': coding },
    status: 415,
  })),
];

const bodies: Case[] = [
  ...[
    '',
    ' ',
    'x',
    '{',
    '{"agent":"free"',
    '{"agent":"free","message":"x",}',
    "{'agent':'free'}",
    '{agent:1}',
    '{"agent":"free","message":"x"} x',
    '\u0000',
    'undefined',
    '{"agent":NaN}',
    '{"agent":"free","message":"a\nb"}',
  ].map((body) => ({ name: `not JSON: ${JSON.stringify(body)}`, body, status: 400, error: /not JSON/ })),
  ...['null', 'true', '1', '"text"', '[]', '[{"agent":"free","message":"x"}]'].map((body) => ({
    name: `not an object: ${body}`,
    body,
    status: 400,
    error: /JSON object/,
  })),
  { name: 'not UTF-8', body: Buffer.from('7b226167656e74223a22ff227d', 'hex'), status: 400, error: /UTF-8/ },
  {
    name: 'an overlong encoding',
    body: Buffer.from('7b2261223a22c0af227d', 'hex'),
    status: 400,
    error: /UTF-8/,
  },
  { name: 'UTF-16', body: Buffer.from('{"agent":"free"}', 'utf16le'), status: 400 },
  {
    name: 'a field twice',
    body: '{"agent":"free","agent":"other","message":"x"}',
    status: 400,
    error: /duplicate field/,
  },
  {
    name: 'a field twice, once escaped',
    body: '{"agent":"free","\\u0061gent":"other","message":"x"}',
    status: 400,
    error: /duplicate field/,
  },
  {
    name: 'a field twice in a nested object',
    body: '{"agent":"free","message":"x","extra":{"a":1,"a":2}}',
    status: 200,
  },
  {
    name: 'nested too deep',
    body: `{"agent":"free","message":"x","extra":${'['.repeat(100)}${']'.repeat(100)}}`,
    status: 400,
    error: /deep/,
  },
  { name: 'nested very deep', body: `${'['.repeat(100_000)}`, status: 400 },
  {
    name: '__proto__ instead of fields',
    body: '{"__proto__":{"agent":"free","message":"x"}}',
    status: 400,
    error: /agent is required/,
  },
  {
    name: '__proto__ beside fields',
    body: '{"__proto__":{"sessionKey":"x"},"agent":"free","message":"x"}',
    status: 200,
  },
  { name: 'constructor', body: '{"constructor":{"prototype":{"agent":"free"}},"message":"x"}', status: 400 },
  { name: 'unknown fields', body: { ...message, priority: 1, nested: { a: [] } }, status: 200 },
];

const fields: Case[] = [
  { name: 'no fields', body: {}, status: 400, error: /agent is required/ },
  { name: 'no agent', body: { message: 'x' }, status: 400, error: /agent is required/ },
  { name: 'agent null', body: { agent: null, message: 'x' }, status: 400, error: /agent is required/ },
  ...[1, true, [], {}, ['free'], ''].map((agent) => ({
    name: `agent ${JSON.stringify(agent)}`,
    body: { agent, message: 'x' },
    status: 400,
    error: /non-empty string/,
  })),
  ...['unknown', 'FREE', ' free', 'free ', '__proto__', 'constructor', 'toString', 'inner'].map((agent) => ({
    name: `agent ${JSON.stringify(agent)}`,
    body: { agent, message: 'x' },
    status: 404,
    error: /no such agent/,
  })),
  { name: 'no message', body: { agent: 'free' }, status: 400, error: /message is required/ },
  { name: 'message null', body: { agent: 'free', message: null }, status: 400, error: /message is required/ },
  ...[1, false, [], {}, ['x']].map((value) => ({
    name: `message ${JSON.stringify(value)}`,
    body: { agent: 'free', message: value },
    status: 400,
    error: /must be a string/,
  })),
  ...['', ' ', '\n\t ', '\u3000', '\ufeff'].map((value) => ({
    name: `message ${JSON.stringify(value)}`,
    body: { agent: 'free', message: value },
    status: 400,
    error: /blank/,
  })),
  {
    name: 'half a surrogate pair',
    body: '{"agent":"free","message":"\\ud83d"}',
    status: 400,
    error: /well-formed/,
  },
  { name: 'U+0000', body: '{"agent":"free","message":"a\\u0000b"}', status: 400, error: /U\+0000/ },
  { name: 'every script', body: { agent: 'free', message: '你好 مرحبا 😀 \u202e' }, status: 200 },
  {
    name: 'field names in another case',
    body: { Agent: 'free', Message: 'x' },
    status: 400,
    error: /agent is required/,
  },
  {
    name: 'no message and an unknown agent',
    body: { agent: 'unknown' },
    status: 400,
    error: /message is required/,
  },
];

const keys: Case[] = [
  { name: 'a key', body: { ...message, sessionKey: 'ticket-17' }, status: 200 },
  { name: 'every character', body: { ...message, sessionKey: 'AZaz09._:-' }, status: 200 },
  { name: '128 characters', body: { ...message, sessionKey: 'k'.repeat(128) }, status: 200 },
  { name: 'null', body: { ...message, sessionKey: null }, status: 200 },
  ...['', 'k'.repeat(129), 'a b', 'a/b', 'a\n', 'ключ', 'a%20', '$', 1, true, {}, ['k']].map(
    (sessionKey) => ({
      name: `key ${JSON.stringify(sessionKey).slice(0, 20)}`,
      body: { ...message, sessionKey },
      status: 400,
      error: /sessionKey must be/,
    }),
  ),
  { name: 'the fixed key', body: { agent: 'fixed', message: 'x', sessionKey: 'the-key' }, status: 200 },
  { name: 'no key where one is fixed', body: { agent: 'fixed', message: 'x' }, status: 200 },
  {
    name: 'another key than the fixed one',
    body: { agent: 'fixed', message: 'x', sessionKey: 'other' },
    status: 409,
  },
  {
    name: 'the fixed key in another case',
    body: { agent: 'fixed', message: 'x', sessionKey: 'The-Key' },
    status: 409,
  },
  {
    name: 'a bad key where one is fixed',
    body: { agent: 'fixed', message: 'x', sessionKey: 'a b' },
    status: 400,
  },
];

const wakes: Case[] = [
  { name: 'wake', body: { agent: 'free' }, status: 200 },
  { name: 'wake with a fixed key', body: { agent: 'fixed' }, status: 200 },
  { name: 'wake with a message, which is ignored', body: message, status: 200 },
  { name: 'wake with a key', body: { agent: 'free', sessionKey: 'x' }, status: 400, error: /not accepted/ },
  {
    name: 'wake with the fixed key',
    body: { agent: 'fixed', sessionKey: 'the-key' },
    status: 400,
    error: /not accepted/,
  },
  { name: 'wake without an agent', body: {}, status: 400 },
  { name: 'wake of an unknown agent', body: { agent: 'unknown' }, status: 404 },
  { name: 'wake without a body', body: '', status: 400 },
].map((each) => ({ ...each, path: '/hooks/wake' }));

const padded = (bytes: number) => {
  const frame = JSON.stringify({ agent: 'free', message: '' }).length;
  return JSON.stringify({ agent: 'free', message: 'm'.repeat(bytes - frame) });
};
const sizes: Case[] = [
  { name: 'one byte under the limit', body: padded(LIMIT - 1), status: 200 },
  { name: 'the limit', body: padded(LIMIT), status: 200 },
  { name: 'one byte over', body: padded(LIMIT + 1), status: 413 },
  {
    name: 'one byte over, in chunks',
    body: padded(LIMIT + 1),
    headers: { ...GOOD, 'transfer-encoding': 'chunked' },
    status: 413,
  },
  {
    name: 'the limit, in chunks',
    body: padded(LIMIT),
    headers: { ...GOOD, 'transfer-encoding': 'chunked' },
    status: 200,
  },
  { name: 'much too long', body: padded(LIMIT * 8), status: 413 },
  { name: 'much too long, without a token', body: padded(LIMIT * 8), headers: JSON_TYPE, status: 401 },
];

const idempotencyKeys: Case[] = [
  ...['', 'a b', 'ключ', 'k'.repeat(256), 1, {}, true].map((idempotencyKey) => ({
    name: `key ${JSON.stringify(idempotencyKey).slice(0, 20)} in the body`,
    body: { ...message, idempotencyKey },
    status: 400,
    error: /idempotency key/,
  })),
  {
    name: 'two different keys',
    headers: { ...GOOD, 'idempotency-key': 'a' },
    body: { ...message, idempotencyKey: 'b' },
    status: 400,
    error: /two different/,
  },
  {
    name: 'the same key twice',
    headers: { ...GOOD, 'idempotency-key': 'same' },
    body: { ...message, idempotencyKey: 'same' },
    status: 200,
  },
  {
    name: 'two headers',
    headers: { ...GOOD, 'idempotency-key': ['a', 'b'] },
    body: message,
    status: 400,
    error: /two different/,
  },
];

const groups = { tokens, routes, media, bodies, fields, keys, wakes, sizes, idempotencyKeys };

describe('/hooks answers', async () => {
  const gateway = await startGateway(suiteScope(), {
    isStarted: false,
    agents: {
      free: httpAgent('http://127.0.0.1:9/'),
      fixed: httpAgent('http://127.0.0.1:9/'),
      inner: httpAgent('http://127.0.0.1:9/'),
    },
    webhooks: {
      maxFailuresPerSource: 1000,
      previousSecret: hidden('the-previous-secret'),
      agents: { free: { sessionKey: null }, fixed: { sessionKey: 'the-key' } },
    },
  });
  for (const [group, cases] of Object.entries(groups)) {
    describe(`${group}: ${cases.length} requests`, () => {
      for (const each of cases) {
        it(each.name, async () => {
          const before = (await gateway.runs()).length;
          const answer = await sendCase(gateway.url, each);
          assert.equal(answer.status, each.status, answer.text);
          assertAnswerFormat(answer, each);
          assert.equal((await gateway.runs()).length, before + (each.status === 200 ? 1 : 0), 'runs stored');
        });
      }
    });
  }
});

function sendCase(
  url: string,
  { path = '/hooks/agent', method = 'POST', headers = GOOD, body = message }: Case,
) {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  return send(url + path, { method, headers, ...(hasBody ? { body: raw } : {}) });
}

function assertAnswerFormat(answer: HttpAnswer, { method, path, error, status }: Case): void {
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  if (method === 'HEAD') return assert.equal(answer.text, '');
  const body = answer.json as Record<string, unknown>;
  if (status === 200) {
    if (path === '/hooks/wake') assert.deepEqual(Object.keys(body), ['status', 'agent', 'state']);
    else assert.deepEqual(Object.keys(body), ['status', 'session', 'queued', 'runId']);
    return assert.equal(body['status'], 'ok');
  }
  assert.deepEqual(Object.keys(body), ['status', 'error']);
  assert.equal(body['status'], 'error');
  assert.match(String(body['error']), error ?? /./);
  assert.ok(!answer.text.includes(SECRET));
  if (status === 401) assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
  if (status === 405) assert.equal(answer.headers['allow'], 'POST');
}

test('two Authorization headers are refused, whichever comes first', async (t) => {
  const gateway = await startGateway(t, {
    isStarted: false,
    agents: { free: httpAgent('http://127.0.0.1:9/') },
  });
  const right = `Authorization: Bearer ${SECRET}\r\n`;
  const wrong = 'Authorization: Bearer wrong\r\n';
  for (const pair of [right + wrong, wrong + right, right + right]) {
    const body = JSON.stringify(message);
    const received = await exchange(
      gateway.url,
      `POST /hooks/agent HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${pair}\r\n${body}`,
    );
    assert.equal(parseExchange(received).status, 401);
  }
});

test('the answer names the session: the fixed one, the requested one, or a new one for each request', async (t) => {
  const gateway = await startGateway(t, {
    isStarted: false,
    agents: { free: httpAgent('http://127.0.0.1:9/'), fixed: httpAgent('http://127.0.0.1:9/') },
    webhooks: { agents: { free: { sessionKey: null }, fixed: { sessionKey: 'the-key' } } },
  });
  const session = async (body: object) =>
    ((await gateway.post('/hooks/agent', body)).json as { session: string }).session;
  assert.equal(await session({ agent: 'fixed', message: 'x' }), 'the-key');
  assert.equal(await session({ agent: 'free', message: 'x', sessionKey: 'ticket-17' }), 'ticket-17');
  const [one, two] = [await session(message), await session(message)];
  assert.match(one, /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.notEqual(one, two);
});

test('while webhooks are not enabled, every path is 404 with a valid token', async (t) => {
  const gateway = await startGateway(t, { webhooks: { enabled: false } });
  for (const path of ['/hooks/agent', '/hooks/wake', '/hooks/x']) {
    const answer = await gateway.post(path, message);
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json, { status: 'error', error: 'webhooks are not enabled' });
  }
});

test('an address that may not call is refused with 403, whatever its token is', async (t) => {
  const gateway = await startGateway(t, { deps: { mayCall: () => false } });
  assert.equal((await gateway.post('/hooks/agent', message)).status, 403);
  assert.equal((await gateway.post('/hooks/agent', message, { authorization: 'Bearer wrong' })).status, 403);
});

test('webhooks need neither the whitelist nor the Basic authentication of the admin API', async (t) => {
  const gateway = await startGateway(t, {
    isStarted: false,
    agents: { free: httpAgent('http://127.0.0.1:9/') },
  });
  await gateway.admin.whitelist.save('203.0.113.7');
  assert.equal((await gateway.post('/hooks/agent', message)).status, 200);
  assert.equal((await send(`${gateway.url}/api/v1/runs`)).status, 403);
});

test('a failed database write is answered with 500 in the format of all errors, and frees its place in the queue', async (t) => {
  let isBroken = true;
  const gateway = await startGateway(t, {
    isStarted: false,
    agents: { free: httpAgent('http://127.0.0.1:9/') },
    webhooks: { queue: { perAgent: 1, total: 1 }, agents: { free: { sessionKey: null } } },
    breakStore: (store) => ({
      ...store,
      add: (items, now) => (isBroken ? Promise.reject(new Error('disk full')) : store.add(items, now)),
    }),
  });
  for (let i = 0; i < 3; i++) {
    const answer = await gateway.post('/hooks/agent', message);
    assert.equal(answer.status, 500);
    assert.deepEqual(Object.keys(answer.json as object), ['status', 'error']);
    assert.ok(!answer.text.includes('disk full'));
  }
  assert.ok(gateway.lines.some(({ level, msg }) => level === 'error' && msg === 'webhook request failed'));
  isBroken = false;
  assert.equal((await gateway.post('/hooks/agent', message)).status, 200);
});
