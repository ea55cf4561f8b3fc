// `pulsegate agent` and `pulsegate run`, with and without a running daemon.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { commandLine, runCommand } from '../helpers/command.js';
import { BIN, PROJECT, startTestDaemon, type TestDaemon, yamlOf } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { suiteScope } from '../helpers/suite.js';

const config = {
  webhooks: { agents: { fixed: { sessionKey: 'the-key' } } },
  agents: {
    // The variables of a run must not be an invalid configuration for the command line.
    checks: {
      type: 'command',
      command: [process.execPath, BIN, 'config', 'check'],
      allow: { read: [PROJECT] },
    },
    echo: { type: 'command', command: ['sh', '-c', 'echo heard; cat > /dev/null'] },
    fixed: { type: 'command', command: ['sh', '-c', 'echo no >&2; exit 4'] },
    many: { type: 'command', command: ['true'] },
  },
};

const pulsegate = (daemon: TestDaemon, ...args: string[]) =>
  runCommand(PROJECT, [...args, '--config', daemon.configFile]);

describe('beside a daemon', async () => {
  const daemon = await startTestDaemon(suiteScope(), { config });

  it('agent send queues a run or waits for it, and agent list, run list and run show print runs', async () => {
    const [waited, failed, queued] = await Promise.all([
      pulsegate(daemon, 'agent', 'send', 'echo', 'hello', '--wait'),
      pulsegate(daemon, 'agent', 'send', 'fixed', 'hello', '--wait'),
      pulsegate(daemon, 'agent', 'send', 'echo', 'later', '--session', 'k', '--json'),
    ]);
    assert.deepEqual([waited.code, waited.stdout], [0, 'heard\n']);
    assert.deepEqual([failed.code, failed.stderr], [1, 'Run failed: exit status 4: no.\n']);
    const { runId, session } = JSON.parse(queued.stdout);
    assert.equal(session, 'k');
    await eventually(async () =>
      (await daemon.api('GET', `/api/v1/runs/${runId}`)).text.includes('succeeded'),
    );

    const [checked, list, agents, table, shown, json] = await Promise.all([
      pulsegate(daemon, 'agent', 'send', 'checks', 'hello', '--wait'),
      pulsegate(daemon, 'run', 'list', '--agent', 'echo'),
      pulsegate(daemon, 'agent', 'list', '--json'),
      pulsegate(daemon, 'agent', 'list'),
      pulsegate(daemon, 'run', 'show', runId),
      pulsegate(daemon, 'run', 'list', '--status', 'failed', '--json'),
    ]);
    assert.equal(checked.code, 0, checked.stderr);
    assert.match(list.stdout, /^ID +AGENT +SESSION +STATUS/);
    assert.equal(list.stdout.trimEnd().split('\n').length, 3);
    assert.deepEqual(
      JSON.parse(agents.stdout)
        .slice(1, 3)
        .map((agent: Record<string, unknown>) => [
          agent['name'],
          agent['state'],
          agent['sessionKey'],
          agent['webhook'],
        ]),
      [
        ['echo', 'active', null, false],
        ['fixed', 'active', 'the-key', true],
      ],
    );
    assert.match(table.stdout, /^echo +\w+ +active .* \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
    assert.match(shown.stdout, /message +later\nreply +heard\n/);
    const [byPrefix, ambiguous, invalid] = await Promise.all([
      pulsegate(daemon, 'run', 'show', runId.slice(0, -1).toUpperCase()),
      pulsegate(daemon, 'run', 'show', runId.slice(0, 5)),
      pulsegate(daemon, 'run', 'show', '%'),
    ]);
    assert.equal(byPrefix.stdout, shown.stdout);
    assert.equal(ambiguous.code, 1);
    assert.match(ambiguous.stderr, /Ambiguous id \S+. Matching runs:\n( {2}\S{36}\n){3,}$/);
    assert.match(invalid.stderr, /No such run: "%"/);
    assert.deepEqual(
      JSON.parse(json.stdout).map(({ agent }: { agent: string }) => agent),
      ['fixed'],
    );
  });

  it('run show finds the last run that a prefix could mean', async () => {
    // Every 16th id ends with f. The queue holds the runs of all: no message waits until a run has ended.
    let id = '';
    await eventually(async () => {
      const sent = await daemon.api('POST', '/api/v1/agents/many/messages', { message: 'x' });
      id = (sent.json as { runId: string }).runId;
      return id.endsWith('f');
    });
    assert.match(
      (await pulsegate(daemon, 'run', 'show', id.slice(0, -1))).stdout,
      new RegExp(`^id +${id}\n`),
    );
  });
});

test('without the daemon agent send stores a run for its next start, and refuses invalid requests', async (t) => {
  const queue = { perAgent: 2, total: 3 };
  const limited = { ...config, webhooks: { ...config.webhooks, queue } };
  const cli = await commandLine(t, yamlOf(limited));
  const run = (...args: string[]) => cli.run(args);
  // Creates the database.
  assert.equal((await run('account', 'add', 'ann', '--generate')).code, 0);
  assert.equal((await run('agent', 'send', 'echo', 'waiting')).code, 0);
  const [unknown, conflict, blank, badKey, none] = await Promise.all([
    run('agent', 'send', 'nobody', 'x'),
    run('agent', 'send', 'fixed', 'x', '--session', 'other'),
    run('agent', 'send', 'echo', '  '),
    run('agent', 'send', 'echo', 'x', '--session', 'a b'),
    run('run', 'show', '01900000-0000-7000-8000-000000000000'),
  ]);
  assert.deepEqual([unknown.code, conflict.code, blank.code, badKey.code, none.code], [1, 2, 2, 2, 1]);
  assert.match(unknown.stderr, /Unknown agent "nobody".*checks, echo, fixed/);
  assert.match(conflict.stderr, /fixed session the-key/);
  assert.equal((await run('agent', 'send', 'echo', 'second')).code, 0);
  const refused = await run('agent', 'send', 'echo', 'third');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /queue is full/);

  const second = await startTestDaemon(t, { config: limited, dataDir: join(cli.folder, 'data') });
  const runs = async () =>
    (await second.api('GET', '/api/v1/runs')).json as { items: { status: string; message: string }[] };
  await eventually(async () => (await runs()).items.every(({ status }) => status === 'succeeded'));
  assert.deepEqual(
    (await runs()).items.map(({ message }) => message),
    ['second', 'waiting'],
  );
});
