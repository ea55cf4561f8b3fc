// Agents of the types `http` and `openai`, against servers with valid and invalid answers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import {
  createHttpAgent,
  createOpenAiAgent,
  newest,
  type OpenAiOptions,
} from '../../../src/agents/backends/http.js';
import type { AgentInput, HistoryEntry } from '../../../src/core/agents/runs.js';
import { type Answer, startAgentServer } from '../../helpers/agent-server.js';

const input: AgentInput = {
  kind: 'message',
  runId: '01900000-0000-7000-8000-000000000001',
  agent: 'a',
  session: 's',
  message: 'hello',
  history: [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
  ],
  attempt: 1,
};
const neverAborted = new AbortController().signal;

async function runHttpAgent(t: TestContext, answer: Answer, apiKey: string | null = null) {
  const server = await startAgentServer(t, answer);
  const agent = createHttpAgent({
    url: `${server.url}/run?x=1`,
    apiKey: () => apiKey,
    maxReplyBytes: 1000,
    now: Date.now,
  });
  return { server, output: await agent.run(input, neverAborted) };
}

test('http: the body of the request is the input, and the reply is JSON or plain text', async (t) => {
  const { server, output } = await runHttpAgent(t, () => ({ reply: 'hi' }), 'k-1');
  assert.deepEqual(output, { ok: true, reply: 'hi' });
  const [request] = server.requests;
  assert.deepEqual(request?.json, input);
  assert.deepEqual([request?.method, request?.path], ['POST', '/run?x=1']);
  assert.equal(request?.headers['authorization'], 'Bearer k-1');
  assert.equal(request?.headers['idempotency-key'], input.runId);
  assert.deepEqual((await runHttpAgent(t, () => 'plain')).output, { ok: true, reply: 'plain' });
});

const status =
  (code: number, text = '', headers: Record<string, string> = {}): Answer =>
  (_, res) => {
    res.writeHead(code, headers).end(text);
  };

const httpAnswers: readonly [string, Answer, { ok: true; reply: string } | RegExp][] = [
  ['204 is an empty reply', status(204), { ok: true, reply: '' }],
  ['reply null', () => ({ reply: null }), { ok: true, reply: '' }],
  [
    'an empty JSON answer',
    (_, res) => void res.setHeader('content-type', 'application/json').end(),
    { ok: true, reply: '' },
  ],
  [
    'another JSON media type',
    (_, res) => void res.setHeader('content-type', 'application/problem+json').end('{"reply":"x"}'),
    { ok: true, reply: 'x' },
  ],
  ['JSON without a reply', () => ({ answer: 'x' }), /without a "reply"/],
  ['a reply that is not a string', () => ({ reply: 1 }), /without a "reply"/],
  ['a list instead of an object', () => ['x'], /without a "reply"/],
  [
    'broken JSON',
    (_, res) => void res.setHeader('content-type', 'application/json').end('{"reply'),
    /without a "reply"/,
  ],
  ['500', status(500, 'oh no'), /^HTTP 500: oh no$/],
  ['404', status(404), /^HTTP 404$/],
  ['a redirect', status(307, '', { location: 'http://127.0.0.1:9/' }), /redirects are not followed/],
  ['an answer one byte too long', () => 'x'.repeat(1001), /longer than 1000 bytes/],
  ['an answer as long as the limit', () => 'x'.repeat(1000), { ok: true, reply: 'x'.repeat(1000) }],
  ['a connection that closes before the answer', (_, res) => void res.destroy(), /hang up/],
  [
    'a connection that closes within the answer',
    (_, res) => void res.writeHead(200, { 'content-length': '10' }).write('x', () => res.destroy()),
    /aborted|closed/,
  ],
];
for (const [name, answer, expected] of httpAnswers) {
  test(`http: ${name}`, async (t) => {
    const { server, output } = await runHttpAgent(t, answer);
    if (expected instanceof RegExp) {
      assert.ok(!output.ok);
      assert.match(output.error, expected);
    } else assert.deepEqual(output, expected);
    assert.equal(server.requests.length, 1, 'a request that may have started a run is not repeated');
  });
}

test('http: 429 and 503 are retried only with Retry-After', async (t) => {
  let refusalsLeft = 2;
  const retried = await runHttpAgent(t, (_, res) =>
    refusalsLeft-- > 0 ? void res.writeHead(refusalsLeft ? 429 : 503, { 'retry-after': '0' }).end() : 'hi',
  );
  assert.deepEqual(retried.output, { ok: true, reply: 'hi' });
  const withoutHeader = await runHttpAgent(t, status(503));
  assert.equal(withoutHeader.server.requests.length, 1);
  const alwaysBusy = await runHttpAgent(t, status(429, 'busy', { 'retry-after': '0' }));
  assert.equal(alwaysBusy.server.requests.length, 3);
  assert.ok(!alwaysBusy.output.ok && alwaysBusy.output.error === 'HTTP 429: busy');
});

test('http: a refused connection is retried, and then reported', async () => {
  const agent = createHttpAgent({
    url: 'http://127.0.0.1:9/',
    apiKey: () => null,
    maxReplyBytes: 10,
    now: Date.now,
  });
  const output = await agent.run(input, neverAborted);
  assert.ok(!output.ok && /ECONNREFUSED/.test(output.error));
});

test('http: an abort closes the connection of the request', async (t) => {
  const abort = new AbortController();
  const closed: Promise<unknown>[] = [];
  const { url } = await startAgentServer(t, (_, res) => {
    closed.push(once(res, 'close'));
    abort.abort('timeout');
  });
  const agent = createHttpAgent({ url, apiKey: () => null, maxReplyBytes: 10, now: Date.now });
  assert.equal((await agent.run(input, abort.signal)).ok, false);
  assert.equal(closed.length, 1);
  await Promise.all(closed);
});

async function complete(
  t: TestContext,
  answer: Answer,
  over: Partial<OpenAiOptions> = {},
  changed: Partial<AgentInput> = {},
) {
  const server = await startAgentServer(t, answer);
  const agent = createOpenAiAgent({
    baseUrl: `${server.url}/v1/`,
    model: 'small',
    apiKey: () => 'sk-secret',
    system: null,
    maxTokens: 99,
    historyMessages: 10,
    historySizeBytes: 1000,
    maxReplyBytes: 1000,
    now: Date.now,
    ...over,
  });
  return { server, output: await agent.run({ ...input, ...changed }, neverAborted) };
}
const completion =
  (content: unknown): Answer =>
  () => ({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] });

test('openai: the request is a chat completion with the history, the system text and the limit', async (t) => {
  const { server, output } = await complete(t, completion('hi'), { system: 'be kind' });
  assert.deepEqual(output, { ok: true, reply: 'hi' });
  const [request] = server.requests;
  assert.equal(request?.path, '/v1/chat/completions');
  assert.equal(request?.headers['authorization'], 'Bearer sk-secret');
  assert.deepEqual(request?.json, {
    model: 'small',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'hello' },
    ],
    max_tokens: 99,
    stream: false,
  });
});

test('openai: without a key the request has no Authorization header', async (t) => {
  const { server } = await complete(t, completion('hi'), { apiKey: () => null });
  assert.equal(server.requests[0]?.headers['authorization'], undefined);
});

const refusals: readonly [string, Answer, RegExp][] = [
  [
    'a refused key',
    status(401, '{"error":{"message":"Incorrect API key provided: sk-secret"}}'),
    /^the server refused the key \(HTTP 401: Incorrect API key provided: \(hidden\)\)$/,
  ],
  [
    'an unknown model',
    status(404, '{"error":{"message":"no such model"}}'),
    /^unknown model small, or wrong baseUrl \(HTTP 404: no such model\)$/,
  ],
  ['a rate limit', status(429, '{"error":{"message":"slow down"}}'), /rate limit or the quota/],
  [
    'a context that is too long',
    status(400, '{"error":{"message":"maximum context length"}}'),
    /does not accept.*maximum context/,
  ],
  ['a page of HTML', () => '<html>login</html>', /not a chat completion: <html>/],
  ['no choices', () => ({ choices: [] }), /not a chat completion/],
  ['an error with status 200', () => ({ error: { message: 'x' } }), /not a chat completion/],
  ['choices that are not a list', () => ({ choices: { 0: null } }), /not a chat completion/],
  ['no content', completion(null), /not a chat completion/],
  ['content in parts', completion([{ type: 'text', text: 'x' }]), /not a chat completion/],
  ['an empty content', completion(' '), /returned an empty answer/],
  ['a reply one byte too long', completion('x'.repeat(1001)), /longer than 1000 bytes/],
  ['an endless answer', () => 'x'.repeat(10_000), /longer than/],
  ['500', status(500), /^HTTP 500$/],
];
for (const [name, answer, error] of refusals) {
  test(`openai: a run fails with a reason: ${name}`, async (t) => {
    const { output } = await complete(t, answer);
    assert.ok(!output.ok);
    assert.match(output.error, error);
    assert.ok(!output.error.includes('sk-secret'));
  });
}

test('openai: the refusal of a model is its reply', async (t) => {
  const { output } = await complete(t, () => ({
    choices: [{ message: { content: null, refusal: 'I will not' } }],
  }));
  assert.deepEqual(output, { ok: true, reply: 'I will not' });
});

test('openai: a wake only checks whether the server responds', async (t) => {
  const wake = { kind: 'wake', message: null } as const;
  const awake = await complete(t, () => ({ data: [] }), {}, wake);
  assert.deepEqual(awake.output, { ok: true, reply: '' });
  assert.deepEqual([awake.server.requests[0]?.method, awake.server.requests[0]?.path], ['GET', '/v1/models']);
  assert.equal((await complete(t, status(404), {}, wake)).output.ok, true);
  assert.equal((await complete(t, status(401), {}, wake)).output.ok, false);
});

test('openai: the newest part of the history that fits is sent, beginning with a message of the user', () => {
  const turn = (i: number): HistoryEntry[] => [
    { role: 'user', content: `u${i}` },
    { role: 'assistant', content: `a${i}` },
  ];
  const history = [0, 1, 2, 3].flatMap(turn);
  const first = (messages: number, bytes: number) => newest(history, messages, bytes)[0]?.content;
  assert.equal(newest(history, 100, 1000).length, 8);
  assert.equal(first(4, 1000), 'u2');
  assert.equal(first(5, 1000), 'u2');
  assert.equal(first(100, 8), 'u2');
  assert.equal(first(100, 7), 'u3');
  assert.deepEqual(newest(history, 0, 1000), []);
  assert.deepEqual(newest(history, 1, 1000), []);
  assert.deepEqual(newest(history, 100, 3), []);
});
