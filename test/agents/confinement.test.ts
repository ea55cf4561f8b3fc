// What the program of a `command` agent reaches under a real daemon: its own folder and what `allow` names, and nothing of the daemon.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { lostPaths } from '../../src/agents/confinement/access.js';
import { enforcementHere } from '../../src/agents/confinement/system.js';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { commandAgent } from '../helpers/hooks.js';
import { suiteScope } from '../helpers/suite.js';

const { missing } = enforcementHere();
/** Kernels and containers without Landlock, and those without koffi. */
const skip = missing === null ? false : `not enforced here: ${missing}`;

describe('the program of an agent', { skip }, () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pulsegate-confined-'));
    scope.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'script'), '#!/usr/bin/env sh\necho "first script"');
    await chmod(join(folder, 'script'), 0o755);
    await writeFile(join(folder, 'secret'), 'a credential');
    await writeFile(join(folder, 'given'), 'given');
    // Runs the message, with `$D` as the data folder and `$F` as this folder.
    const command = ['sh', '-c', 'eval "$(sed \'s/.*"message":"//; s/","history.*//\')" 2>&1 || echo failed'];
    daemon = await startTestDaemon(scope, {
      config: {
        agents: {
          sh: {
            type: 'command',
            command,
            env: { F: folder },
            limits: { memory: '64MiB', processes: 77, cpu: '9s' },
          },
          given: {
            type: 'command',
            command,
            env: { F: folder },
            allow: { read: [join(folder, 'given')], write: [folder] },
          },
          script: { type: 'command', command: [join(folder, 'script')] },
        },
      },
    });
  });

  async function reply(agent: string, message: string): Promise<string> {
    const sent = `${message.replaceAll('$D', daemon.dataDir).replaceAll('$C', daemon.configFile)}`;
    const { stdout, stderr } = await runCommand(tmpdir(), [
      ...['agent', 'send', agent, sent, '--wait', '--config', daemon.configFile],
    ]);
    return (stdout || stderr).trim();
  }

  for (const [what, message] of [
    ['a credential', 'cat $F/secret'],
    ['the configuration', 'cat $C'],
    ['the token of the control socket', 'cat $D/control-token'],
    ['the data folder, to read', 'ls $D'],
    ['the environment of the daemon', 'cat /proc/$PPID/environ'],
    ['the files that the daemon has open', 'cat /proc/$PPID/fd/1'],
    ['the data folder, to write', 'echo x > $D/new'],
    ['the files of other agents', 'ls $D/agents'],
    ['the daemon, by a signal', 'kill -9 $PPID'],
  ] as const) {
    it(`does not reach ${what}`, async () => {
      const answer = await reply('sh', message);
      assert.match(answer, /(Permission denied|not permitted|cannot create)[\s\S]*failed$/);
    });
  }

  it('gets its own folder, names, random numbers, and its input once more', async () => {
    const own = join(daemon.dataDir, 'agents/sh');
    const answer = await reply(
      'sh',
      'pwd; echo $HOME; echo x > $HOME/file; cat file; wc -c < /proc/self/fd/0 > size',
    );
    assert.equal(answer, `${own}\n${own}\nx`);
    assert.equal(await reply('sh', 'mktemp > path; head -c 4 /dev/urandom | wc -c'), '4');
    assert.ok((await readFile(join(own, 'path'), 'utf8')).startsWith(join(own, 'tmp')));
    assert.ok(Number(await readFile(join(own, 'size'), 'utf8')) > 0);
  });

  it('gets what allow names, to read or to write', async () => {
    assert.equal(await reply('given', 'cat $F/given; echo y > $F/written; cat $F/written'), 'giveny');
  });

  it('and its interpreter may be read, also after the file was replaced', async () => {
    assert.equal(await reply('script', 'x'), 'first script');
    await writeFile(join(folder, 'new'), '#!/usr/bin/env sh\necho "second script"');
    await chmod(join(folder, 'new'), 0o755);
    await rename(join(folder, 'new'), join(folder, 'script'));
    assert.equal(await reply('script', 'x'), 'second script');
  });

  it('has the configured limits, and fails when it needs more memory', async () => {
    const limits = await reply('sh', 'cat /proc/self/limits');
    assert.match(limits, /Max cpu time +9 +9 /);
    assert.match(limits, /Max data size +67108864 +67108864 /);
    assert.match(limits, /Max processes +77 +77 /);
    const fill = (bytes: number) => reply('sh', `head -c ${bytes} /dev/zero | tail -c ${bytes} | wc -c`);
    assert.equal(await fill(30_000_000), '30000000');
    assert.match(await fill(80_000_000), /memory exhausted/);
  });

  it('cannot ask the control socket, which wants the token of the data folder', async () => {
    const ask = (token: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        const headers = { 'pulsegate-control-token': token };
        const socketPath = join(daemon.dataDir, 'control.sock');
        const asked = request({ socketPath, path: '/api/v1/accounts', headers }, async (response) =>
          resolve([response.statusCode, await text(response)]),
        );
        asked.on('error', reject).end();
      });
    const token = await readFile(join(daemon.dataDir, 'control-token'), 'utf8');
    assert.equal((await stat(join(daemon.dataDir, 'control-token'))).mode & 0o777, 0o600);
    assert.deepEqual((await ask(token))[0], 200);
    for (const wrong of ['', `${token}x`, token.replace(/.$/, '!')]) assert.equal((await ask(wrong))[0], 401);
  });
});

describe('an agent of an older configuration', () => {
  const settings = (over: object) =>
    ({ ...commandAgent(['sh']), allow: null, ...over }) as Parameters<typeof lostPaths>[0];
  const lost = (over: object) => lostPaths(settings(over), '/var/lib/pulsegate', process.env['PATH'] ?? '');

  it('is told which folders it has no more', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-lost-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const script = join(folder, 'agent.js');
    await writeFile(script, '');
    assert.deepEqual(lost({ command: ['sh', script] }), [folder]);
    assert.deepEqual(lost({ command: ['sh'], cwd: folder }), [folder]);
    assert.deepEqual(lost({ command: ['sh', script], allow: { read: [], write: [] } }), []);
    assert.deepEqual(lost({ command: ['sh', '/usr/bin/env'] }), []);
  });
});

describe('what the system does not enforce', () => {
  const textOf = (version: number) => enforcementHere(() => ({ version: () => version }) as never).missing;
  it('is named', () => {
    assert.match(textOf(0) ?? '', /^files and signals/);
    assert.match(textOf(2) ?? '', /^truncation of files .* signals/);
    assert.match(textOf(5) ?? '', /^signals/);
    assert.equal(textOf(6), null);
    const without = enforcementHere(() => {
      throw new Error("Cannot find module 'koffi'\nRequire stack");
    });
    assert.match(without.missing ?? '', /^files and signals \(koffi: Cannot find module 'koffi'\)/);
  });
});
