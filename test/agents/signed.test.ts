// Senders that sign their deliveries: GitHub, Stripe and Standard Webhooks, from the signature to the run.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type SigningSender, verifySignature } from '../../src/core/agents/signatures.js';
import { compileMessageTemplate, MAX_PLACEHOLDERS } from '../../src/message-template.js';
import { type Gateway, startGateway } from '../helpers/gateway.js';
import { hidden, hookSettings, httpAgent } from '../helpers/hooks.js';
import { type HttpAnswer, send } from '../helpers/http.js';

const NOW = 1_614_265_330_000;
const STANDARD_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const TOLERANCE_MS = 300_000;

type Headers = Readonly<Record<string, string>>;

const hmac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text);
const github = (body: string, secret = 'secret'): Headers => ({
  'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
});
const stripe = (body: string, at = NOW, secret = 'secret'): Headers => {
  const t = Math.floor(at / 1000);
  return { 'stripe-signature': `t=${t},v0=abc,v1=${hmac(secret, `${t}.${body}`).digest('hex')}` };
};
const standard = (body: string, id: string, at = NOW): Headers => {
  const time = String(Math.floor(at / 1000));
  const key = Buffer.from(STANDARD_SECRET.slice(6), 'base64');
  const signature = hmac(key, `${id}.${time}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1a,x v1,${signature}` };
};

describe('signatures', () => {
  const verify = (scheme: SigningSender['scheme'], secret: string, headers: Headers, body: string) =>
    verifySignature(
      { scheme, secrets: [secret], toleranceMs: TOLERANCE_MS },
      (name) => (headers[name] === undefined ? [] : [headers[name]]),
      Buffer.from(body),
      NOW,
    );

  test('each of several secrets is valid, with every scheme', () => {
    for (const [scheme, secret, other, headers] of [
      ['github', 'secret', 'other', github('{}')],
      ['stripe', 'secret', 'other', stripe('{}')],
      ['standard', STANDARD_SECRET, `whsec_${'A'.repeat(16)}`, standard('{}', 'msg_1')],
    ] as const) {
      const isValid = (...secrets: readonly string[]) =>
        verifySignature(
          { scheme, secrets, toleranceMs: TOLERANCE_MS },
          (name) => (headers[name] === undefined ? [] : [headers[name]]),
          Buffer.from('{}'),
          NOW,
        ).ok;
      assert.deepEqual(
        [isValid(secret, other), isValid(other, secret), isValid(other), isValid()],
        [true, true, false, false],
        scheme,
      );
    }
  });

  test('the example in GitHub’s documentation is valid', () => {
    const hex = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const headers = { 'x-hub-signature-256': `sha256=${hex}` };
    const secret = "It's a Secret to Everybody";
    assert.deepEqual(verify('github', secret, headers, 'Hello, World!'), { ok: true, delivery: null });
    assert.equal(verify('github', secret, headers, 'Hello, World').ok, false);
    assert.equal(verify('github', secret, {}, 'Hello, World!').ok, false);
  });

  test('the example in the Standard Webhooks libraries is valid', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const body = '{"test": 2432232314}';
    const valid = { ok: true, delivery: 'msg_p5jXN8AQM9LWM0D4loKWxJek' };
    assert.deepEqual(verify('standard', STANDARD_SECRET, headers, body), valid);
    for (const changed of [
      { 'webhook-id': 'msg_other' },
      { 'webhook-timestamp': '1614265331' },
      { 'webhook-signature': 'v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' },
      { 'webhook-signature': '' },
    ])
      assert.equal(verify('standard', STANDARD_SECRET, { ...headers, ...changed }, body).ok, false);
  });

  test('a signed time is valid within the tolerance in both directions, and is checked only after the signature', () => {
    for (const [offMs, expected] of [
      [TOLERANCE_MS, true],
      [-TOLERANCE_MS, true],
      [TOLERANCE_MS + 1_000, 'stale'],
      [-TOLERANCE_MS - 1_000, 'stale'],
    ] as const) {
      for (const found of [
        verify('stripe', 'secret', stripe('{}', NOW + offMs), '{}'),
        verify('standard', STANDARD_SECRET, standard('{}', 'msg_1', NOW + offMs), '{}'),
      ])
        assert.equal(found.ok || found.reason, expected);
    }
    const other = verify('stripe', 'other', stripe('{}', 0), '{}');
    assert.deepEqual(other, { ok: false, reason: 'unsigned' });
  });
});

describe('message templates', () => {
  const fill = (template: string, object: Record<string, unknown>, maxBytes = 100) =>
    compileMessageTemplate(template)(object, maxBytes);

  test('insert values into text, and report missing values', () => {
    const object = { issue: { title: 'Crash', labels: ['a', 'b'], 'x y': 7 }, ok: true };
    assert.deepEqual(fill('{$.issue.title}: {$.issue.labels[1]} {$.ok} {x}', object), {
      ok: true,
      message: 'Crash: b true {x}',
    });
    assert.deepEqual(fill("{$.issue['x y']} {$.issue.labels}", object), { ok: true, message: '7 ["a","b"]' });
    assert.deepEqual(fill('{$.gone}', object), { ok: false, error: 'the body has nothing at $.gone' });
    assert.equal(fill('{$.issue.title}', object, 5).ok, true);
    const long = { ok: false, error: 'the message would be longer than 4 bytes' };
    assert.deepEqual(fill('{$.issue.title}', object, 4), long);
    assert.equal(fill('{$.a.toString}{$.__proto__}', { a: {} }).ok, false);
  });

  test('are refused when they could be slow or long', () => {
    for (const template of ['{$..a}', '{$.*}', '{$[?@.a]}', '{$[0:2]}', '{$.a b}', '{$[}', 'x'.repeat(4_097)])
      assert.throws(() => compileMessageTemplate(template), Error, template);
    compileMessageTemplate('{$.a}'.repeat(MAX_PLACEHOLDERS));
    assert.throws(() => compileMessageTemplate('{$.a}'.repeat(MAX_PLACEHOLDERS + 1)));
  });
});

describe('POST /hooks/agent/<name>', () => {
  const common = {
    ...{ secretFile: null, previousSecret: null, previousSecretFile: null },
    toleranceMs: TOLERANCE_MS,
  };
  const sender = (scheme: SigningSender['scheme'], secret: string, message: string | null = null) => ({
    sessionKey: null,
    signature: { ...common, scheme, secret: hidden(secret), message },
  });
  const webhooks = {
    maxFailuresPerSource: 4,
    agents: {
      hub: sender('github', 'secret', '{$.sender.login} opened {$.issue.title}'),
      pay: sender('stripe', 'secret'),
      std: sender('standard', STANDARD_SECRET),
      plain: { sessionKey: null },
    },
  };
  const agents = Object.fromEntries(
    Object.keys(webhooks.agents).map((name) => [name, httpAgent('http://127.0.0.1:9/')]),
  );
  const options = { agents, webhooks, isStarted: false, deps: { now: () => NOW } };

  const deliver = (gateway: Gateway, name: string, body: string, headers: Headers): Promise<HttpAnswer> =>
    send(`${gateway.url}/hooks/agent/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const error = ({ json }: HttpAnswer): unknown => (json as { error: string }).error;

  test('makes one run of a signed delivery, however often it is sent', async (t) => {
    const gateway = await startGateway(t, options);
    const issue = JSON.stringify({ issue: { title: 'Crash' }, sender: { login: 'ann' } });
    const first = await deliver(gateway, 'hub', issue, github(issue));
    assert.equal(first.status, 200, first.text);
    // GitHub does not sign its delivery id: another one is the same delivery.
    const repeated = await deliver(gateway, 'hub', issue, { ...github(issue), 'x-github-delivery': 'other' });
    assert.deepEqual([repeated.status, repeated.text], [200, first.text]);
    assert.equal(repeated.headers['idempotency-replayed'], 'true');

    const event = JSON.stringify({ id: 'evt_1', type: 'payout.paid' });
    const paid = await deliver(gateway, 'pay', event, stripe(event));
    const retried = await deliver(gateway, 'pay', event, stripe(event, NOW + 60_000));
    assert.deepEqual([paid.status, retried.text], [200, paid.text]);

    assert.equal((await deliver(gateway, 'std', '{}', standard('{}', 'msg_1'))).status, 200);
    assert.equal((await deliver(gateway, 'std', '{}', standard('{}', 'msg_2'))).status, 200);
    const other = await deliver(gateway, 'std', '{"a":1}', standard('{"a":1}', 'msg_1'));
    assert.equal(other.status, 422);
    assert.deepEqual(
      (await gateway.runs()).map(({ agent, message }) => [agent, message]),
      [
        ['hub', 'ann opened Crash'],
        ['pay', event],
        ['std', '{}'],
        ['std', '{}'],
      ],
    );
  });

  test('reports what is wrong, and gives no details without a valid signature', async (t) => {
    const gateway = await startGateway(t, options);
    const refused = await deliver(gateway, 'hub', '{}', github('{}', 'other'));
    assert.deepEqual([refused.status, error(refused)], [401, 'a valid signature is required']);
    // This agent has no signature settings: it needs the bearer token.
    assert.equal((await deliver(gateway, 'plain', '{}', github('{}'))).status, 401);
    const stale = await deliver(gateway, 'pay', '{}', stripe('{}', NOW - 600_000));
    assert.deepEqual(
      [stale.status, error(stale)],
      [400, 'the signed time differs by 600 s; at most 300 s are allowed'],
    );
    const empty = await deliver(gateway, 'hub', '{}', github('{}'));
    assert.deepEqual([empty.status, error(empty)], [400, 'the body has nothing at $.sender.login']);
    const form = await deliver(gateway, 'hub', 'a=b', {
      ...github('a=b'),
      'content-type': 'application/x-www-form-urlencoded',
    });
    assert.equal(form.status, 415);
    const ping = await deliver(gateway, 'hub', '{"zen":""}', {
      ...github('{"zen":""}'),
      'x-github-event': 'ping',
    });
    assert.deepEqual(ping.json, { status: 'ok', queued: false });
    assert.deepEqual(await gateway.runs(), []);
    // Two requests failed: after two more, the source has to wait.
    for (let failure = 0; failure < 2; failure += 1)
      assert.equal((await deliver(gateway, 'hub', '{}', github('{}', 'other'))).status, 401);
    const blocked = await deliver(gateway, 'hub', '{}', github('{}'));
    assert.equal(blocked.status, 429);
    assert.equal(gateway.lines.filter(({ msg }) => msg === 'webhook signature refused').length, 3);
  });

  test('accepts the new and the previous secret during a change of secrets', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-signed-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const [file, previousFile] = [join(folder, 'secret'), join(folder, 'previous')];
    await writeFile(file, 'old\n');
    const from = { ...sender('github', '').signature, secret: null, secretFile: file };
    const first = { hub: { sessionKey: null, signature: from } };
    const gateway = await startGateway(t, { ...options, webhooks: { agents: first } });
    const status = async (body: string, secret: string) =>
      (await deliver(gateway, 'hub', body, github(body, secret))).status;
    assert.deepEqual([await status('{"n":1}', 'old'), await status('{"n":2}', 'new')], [200, 401]);

    await writeFile(file, 'new\n');
    await writeFile(previousFile, 'old\n');
    const both = { hub: { sessionKey: null, signature: { ...from, previousSecretFile: previousFile } } };
    gateway.hooks.prepareReload(hookSettings({ agents: both }))();
    assert.deepEqual([await status('{"n":3}', 'old'), await status('{"n":4}', 'new')], [200, 200]);

    await rm(previousFile);
    assert.throws(
      () => gateway.hooks.prepareReload(hookSettings({ agents: both }))(),
      /webhooks\.agents\.hub\.signature\.previousSecretFile: .*previous cannot be read/,
    );
    assert.equal(await status('{"n":5}', 'old'), 200, 'a reload that fails keeps the old secrets');
    gateway.hooks.prepareReload(hookSettings({ agents: first }))();
    assert.deepEqual([await status('{"n":6}', 'old'), await status('{"n":7}', 'new')], [401, 200]);

    const standardFrom = { hub: { sessionKey: null, signature: { ...from, scheme: 'standard' as const } } };
    assert.throws(
      () => gateway.hooks.prepareReload(hookSettings({ agents: standardFrom }))(),
      /hub\.signature\.secretFile: .* must contain whsec_ and base64/,
    );
  });

  test('refuses a bearer token instead of a signature, and a signature instead of a bearer token', async (t) => {
    const gateway = await startGateway(t, options);
    assert.equal((await gateway.post('/hooks/agent/hub', {})).status, 401);
    const body = JSON.stringify({ agent: 'plain', message: 'hi' });
    const answer = await send(`${gateway.url}/hooks/agent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...github(body) },
      body,
    });
    assert.equal(answer.status, 401);
  });
});
