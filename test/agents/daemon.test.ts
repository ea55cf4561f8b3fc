// The gateway in the daemon: configuration that stops the start, SIGHUP, signals, and who may reach /hooks.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { startAgentServer } from '../helpers/agent-server.js';
import { commandLine } from '../helpers/command.js';
import { startTestDaemon, type TestDaemon, yamlOf } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

const echo = { type: 'command', command: ['cat'] };

function post(daemon: TestDaemon, token = SECRET, body: unknown = { agent: 'a', message: 'x' }) {
  return send(`${daemon.adminUrl}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

type InvalidConfig = readonly [name: string, config: Record<string, unknown>, message: RegExp];

const invalidConfigs: readonly InvalidConfig[] = [
  [
    'a webhook agent that is not configured',
    { webhooks: { enabled: true, secret: SECRET, agents: { gone: {} } }, agents: { a: echo } },
    /webhooks\.agents\.gone[\s\S]*agents \(a\)/,
  ],
  ['no secret', { webhooks: { enabled: true } }, /webhooks\.secret/],
  ['an empty secret', { webhooks: { enabled: true, secret: '' } }, /webhooks\.secret/],
  ['two secrets', { webhooks: { enabled: true, secret: SECRET, secretFile: '/x' } }, /secretFile/],
  [
    'a bad session key',
    { webhooks: { agents: { a: { sessionKey: 'a b' } } }, agents: { a: echo } },
    /sessionKey/,
  ],
  ['a type that does not exist', { agents: { a: { type: 'shell', command: ['x'] } } }, /agents\.a/],
  [
    'a command that is a string instead of a list',
    { agents: { a: { type: 'command', command: 'cat x' } } },
    /agents\.a\.command/,
  ],
  [
    'a signing secret of another form',
    { agents: { a: { ...echo, channel: { type: 'http', url: 'http://x/', secret: 'plain' } } } },
    /whsec_/,
  ],
  ['an entry of allowFrom that is not an address', { webhooks: { allowFrom: ['nowhere'] } }, /allowFrom/],
];
for (const [name, config, message] of invalidConfigs) {
  test(`config check names the key at fault: ${name}`, async (t) => {
    const cli = await commandLine(t, yamlOf(config));
    const { code, stderr } = await cli.run(['config', 'check']);
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
  });
}

const unreadableFiles: readonly InvalidConfig[] = [
  [
    'a secret file that does not exist',
    { webhooks: { enabled: true, secretFile: '/no/such/file' } },
    /secretFile.*cannot be read/,
  ],
  ['an empty secret file', { webhooks: { enabled: true, secretFile: '/dev/null' } }, /secretFile.*empty/],
  [
    'a key file that does not exist',
    { agents: { m: { type: 'openai', baseUrl: 'http://x/v1', model: 'm', apiKeyFile: '/no/such' } } },
    /agents\.m\.apiKeyFile.*cannot be read/,
  ],
];
for (const [name, config, message] of unreadableFiles) {
  test(`the daemon does not start and names the file at fault: ${name}`, async (t) => {
    await assert.rejects(startTestDaemon(t, { config }), (error: Error) => {
      assert.match(error.message, /ended with 1\n/);
      assert.match(error.message, message);
      assert.ok(!/\n\s+at /.test(error.message.split('last lines')[0] ?? ''), 'no stack');
      return true;
    });
  });
}

for (const { key, allowFrom, status } of [
  { key: 'secret', allowFrom: '203.0.113.0/24', status: 403 },
  { key: 'secretFile', allowFrom: '127.0.0.*', status: 200 },
]) {
  describe(`a daemon with a short webhooks.${key} and allowFrom ${allowFrom}`, async () => {
    const scope = suiteScope();
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-secrets-'));
    scope.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'token');
    await writeFile(file, 'short-secret');
    const secret = key === 'secret' ? 'short-secret' : file;
    const webhooks = { enabled: true, [key]: secret, allowFrom: [allowFrom], agents: { a: {} } };
    const daemon = await startTestDaemon(scope, { config: { webhooks, agents: { a: echo } } });

    it('starts, and logs one warning without the secret', () => {
      const warnings = daemon.lines.filter(({ msg }) => msg.includes('shorter than 32'));
      assert.deepEqual(
        warnings.map(({ level, msg }) => [level, msg.split(' ')[0]]),
        [['warn', `webhooks.${key}`]],
      );
      assert.ok(!JSON.stringify(daemon.lines).includes('short-secret'));
    });

    it(`answers a request of 127.0.0.1 with ${status}`, async () => {
      assert.equal((await post(daemon, 'short-secret')).status, status);
    });
  });
}

test('SIGHUP loads a changed secret, the previous secret and a changed API key', async (t) => {
  const model = await startAgentServer(t, () => ({ choices: [{ message: { content: 'hi' } }] }));
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-secrets-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [secretFile, previousSecretFile, apiKeyFile, otherKeyFile] = [
    join(folder, 'new'),
    join(folder, 'old'),
    join(folder, 'key'),
    join(folder, 'other-key'),
  ];
  await writeFile(secretFile, `${SECRET}\n`);
  await writeFile(previousSecretFile, 'not-in-use-yet\n');
  await writeFile(apiKeyFile, 'key-1\n');
  await writeFile(otherKeyFile, 'other-key\n');
  const daemon = await startTestDaemon(t, {
    config: {
      webhooks: { enabled: true, secretFile, previousSecretFile, agents: { a: {} } },
      agents: {
        a: { type: 'openai', baseUrl: `${model.url}/v1`, model: 'm', apiKeyFile },
        b: { type: 'openai', baseUrl: `${model.url}/v1`, model: 'm', apiKeyFile: otherKeyFile },
      },
    },
  });
  assert.equal((await post(daemon)).status, 200);
  await eventually(() => model.requests.length === 1);
  await writeFile(secretFile, 'the-new-secret\n');
  await writeFile(previousSecretFile, SECRET);
  await writeFile(apiKeyFile, 'key-2\n');
  assert.equal(
    (await post(daemon, 'the-new-secret')).status,
    401,
    'the new secret is not valid before SIGHUP',
  );
  daemon.signal('SIGHUP');
  await daemon.waitForLine(({ msg }) => msg.startsWith('configuration reloaded'));
  assert.equal((await post(daemon, 'the-new-secret')).status, 200);
  assert.equal((await post(daemon, SECRET)).status, 200);
  await eventually(() => model.requests.length === 3);
  assert.deepEqual(
    model.requests.map(({ headers }) => headers['authorization']),
    ['Bearer key-1', 'Bearer key-2', 'Bearer key-2'],
  );

  await writeFile(secretFile, 'a-newer-secret\n');
  await writeFile(apiKeyFile, 'key-3\n');
  await writeFile(otherKeyFile, '');
  daemon.signal('SIGHUP');
  await daemon.waitForLine(({ msg }) => msg.includes('configuration reload failed'));
  assert.equal((await post(daemon, 'a-newer-secret')).status, 401);
  assert.equal((await post(daemon, 'the-new-secret')).status, 200);
  await eventually(() => model.requests.length === 4);
  assert.equal(
    model.requests[3]?.headers['authorization'],
    'Bearer key-2',
    'one broken file changes nothing',
  );
});

test('a graceful shutdown waits until the current run is delivered, and the next start executes the queued one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-run-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const mayEnd = join(folder, 'may-end');
  const config = {
    shutdownGrace: '60s',
    webhooks: { enabled: true, secret: SECRET, concurrency: 1, agents: { a: {} } },
    agents: {
      a: {
        type: 'command',
        command: ['sh', '-c', `until [ -e '${mayEnd}' ]; do sleep 0.05; done; echo done`],
        channel: { type: 'file', path: 'replies.jsonl' },
      },
    },
  };
  const first = await startTestDaemon(t, { config });
  const running = ((await post(first)).json as { runId: string }).runId;
  const waiting = ((await post(first)).json as { runId: string }).runId;
  const status = async (id: string) =>
    ((await first.api('GET', `/api/v1/runs/${id}`)).json as { status: string }).status;
  await eventually(async () => (await status(running)) === 'running');
  first.signal('SIGTERM');
  await first.waitForLine(({ msg }) => msg.startsWith('stopping'));
  assert.equal((await post(first)).status, 503);
  await writeFile(mayEnd, '');
  assert.equal(await first.exited(), 0);
  const replies = async () =>
    (await readFile(join(first.dataDir, 'replies.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  assert.deepEqual(
    (await replies()).map(({ runId, status }) => [runId, status]),
    [[running, 'succeeded']],
  );

  await startTestDaemon(t, { config, dataDir: first.dataDir });
  await eventually(async () => (await replies()).length === 2);
  assert.equal((await replies())[1].runId, waiting);
});
