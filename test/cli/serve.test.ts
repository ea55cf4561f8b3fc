// `pulsegate serve` from its start to its end: the ready line, the generated password, signals, errors, and changes by commands.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { commandLine, runCommand } from '../helpers/command.js';
import { BIN, plainEnvironment, startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

// The control plane keeps the normal priority beside other tests.
const FREE_PORTS =
  'socks: { port: 0 }\nadmin: { port: 0, host: 127.0.0.1 }\nshutdownGrace: 1s\ncontrolPlaneNice: 0';

interface ServeOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Called before the daemon is ready. */
  readonly starting?: (child: ChildProcess) => Promise<void>;
}

/** Starts `serve` in `folder`; resolves with its ready line. */
async function serve(
  t: { after(close: () => unknown): void },
  folder: string,
  { env = {}, starting }: ServeOptions = {},
) {
  const child = spawn(process.execPath, [BIN, 'serve'], {
    cwd: folder,
    env: { ...plainEnvironment(), ...env },
  });
  const closed = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const stderr = text(child.stderr);
  const lines: Record<string, unknown>[] = [];
  const isReady = new Promise<Record<string, unknown>>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const fields = JSON.parse(line) as Record<string, unknown>;
      lines.push(fields);
      if (fields['msg'] === 'ready') resolve(fields);
    });
  });
  await starting?.(child);
  const ready = await Promise.race([
    isReady,
    closed.then(async () => Promise.reject(new Error(await stderr))),
  ]);
  return { child, ready, lines, stderr, closed };
}

describe('serve in a new folder', async () => {
  const scope = suiteScope();
  const cli = await commandLine(scope, FREE_PORTS);
  const otherServer = createServer().listen(0, '127.0.0.1');
  scope.after(() => otherServer.close());
  await once(otherServer, 'listening');
  const { port: takenPort } = otherServer.address() as AddressInfo;
  const refused = {
    socks: await cli.run(['serve', '--socks-port', String(takenPort)]),
    admin: await cli.run(['serve', '--admin-port', String(takenPort)]),
  };
  // The first start that is successful, and the next one.
  const first = await serve(scope, cli.folder);
  first.child.kill('SIGTERM');
  await first.closed;
  const banner = await first.stderr;
  const [, password = ''] = /^ +password +(\S+)$/m.exec(banner) ?? [];
  const second = await serve(scope, cli.folder);
  const statusWith = async (word: string) => {
    const authorization = `Basic ${btoa(`admin:${word}`)}`;
    const url = `http://${second.ready['admin']}/ProxyAccount/GetProxyAccountList`;
    return (await fetch(url, { headers: { authorization } })).status;
  };
  const statusOfGenerated = await statusWith(password);
  const args = ['admin', 'set-password', '--password-stdin'];
  const set = await cli.run(args, { stdin: 'another one' });
  const statusOfSet = await eventually(async () => {
    const status = await statusWith('another one');
    return status === 200 && status;
  });
  second.child.kill('SIGINT');
  await second.closed;

  for (const [name, { code, stderr }] of Object.entries(refused))
    it(`refuses a port for ${name} that is taken, in one message without a stack`, () => {
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`${name}: 127\\.0\\.0\\.1:${takenPort} is in use by another program\\..*${name}\\.port`),
      );
      assert.doesNotMatch(stderr, /^ +at /m);
    });

  it('shows the generated password at the first successful start', () => {
    assert.doesNotMatch(refused.admin.stderr, /password/);
    assert.match(password, /^[\w-]{24}$/, banner);
  });

  it('shows the generated password once, with a command that uses it', async () => {
    assert.match(
      banner,
      new RegExp(`curl -u 'admin:${password}' http://127\\.0\\.0\\.1:\\d+/ProxyAccount/GetProxyAccountList`),
    );
    assert.ok(first.lines.every((line) => !JSON.stringify(line).includes(password)));
    assert.equal(await second.stderr, '');
    assert.equal(statusOfGenerated, 200);
  });

  it('accepts a password that a command has set', () => {
    assert.deepEqual([set.code, set.stdout], [0, 'Password of admin changed.\n']);
    assert.equal(statusOfSet, 200);
  });

  for (const [signal, { child, ready, lines }] of Object.entries({ SIGTERM: first, SIGINT: second }))
    it(`logs its addresses, and exits with 0 on ${signal}`, () => {
      assert.match(String(ready['socks']), /^127\.0\.0\.1:\d+$/);
      assert.match(String(ready['admin']), /^127\.0\.0\.1:\d+$/);
      assert.equal(ready['dataDir'], join(cli.folder, 'data'));
      assert.equal(child.exitCode, 0);
      assert.deepEqual(lines.map(({ msg }) => msg).slice(-2), ['stopping', 'stopped']);
    });
});

describe('serve', () => {
  it('does not write the generated password to the journal, and applies SIGHUP that comes during the start after it', async (t) => {
    const { folder } = await commandLine(t, FREE_PORTS);
    const { child, lines, stderr } = await serve(t, folder, {
      env: { INVOCATION_ID: 'x' },
      async starting(child) {
        await eventually(() => existsSync(join(folder, 'data')));
        child.kill('SIGHUP');
      },
    });
    await eventually(() => lines.some(({ msg }) => msg === 'configuration reloaded'));
    child.kill();
    assert.equal(
      await stderr,
      'A random administrator password was generated and is not written to the journal. To set one: pulsegate admin set-password\n',
    );
  });

  for (const gone of ['stdout', 'stderr'] as const) {
    it(`continues without a reader of its ${gone}, and writes both texts at every log level`, async (t) => {
      const { folder } = await commandLine(t, FREE_PORTS);
      // Both get a text when the daemon is ready: stdout the ready line, and stderr the generated password.
      const child = spawn(process.execPath, [BIN, 'serve', '--log-level', 'silent'], {
        cwd: folder,
        env: plainEnvironment(),
      });
      const closed = once(child, 'close');
      t.after(async () => {
        child.kill('SIGKILL');
        await closed;
      });
      child[gone].destroy();
      const other = gone === 'stdout' ? child.stderr : child.stdout;
      let output = '';
      const admin = await new Promise<string>((resolve, reject) => {
        other.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          const [, address] = /(?:"admin":\["|http:\/\/)(127\.0\.0\.1:\d+)/.exec(output) ?? [];
          if (address !== undefined) resolve(address);
        });
        child.once('close', () => reject(new Error(output)));
      });
      assert.equal((await fetch(`http://${admin}/healthz`)).status, 200);
      child.kill('SIGTERM');
      await closed;
      assert.equal(child.exitCode, 0);
      if (gone === 'stdout') return;
      const [ready = '', ...others] = output.trimEnd().split('\n');
      assert.equal((JSON.parse(ready) as { level: string }).level, 'info');
      assert.deepEqual(others, []);
    });
  }

  it('exits on a second signal although a session is open', async (t) => {
    const daemon = await startTestDaemon(t, { config: { shutdownGrace: '1h' } });
    await daemon.addAccount('a', 'b');
    const target = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(target, 'listening');
    t.after(() => target.close());
    const { port } = target.address() as { port: number };
    const client = connect(daemon.socks.port, daemon.socks.host);
    t.after(() => client.destroy());
    client.on('error', () => undefined);
    client.write(Buffer.from([5, 1, 2]));
    await once(client, 'data');
    client.write(Buffer.from([1, 1, 0x61, 1, 0x62]));
    await once(client, 'data');
    client.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
    await once(client, 'data');
    daemon.signal('SIGTERM');
    await daemon.waitForLine(({ msg }) => msg.startsWith('stopping'));
    daemon.signal('SIGTERM');
    assert.equal(await daemon.exited(), 0);
  });
});

describe('serve refuses to start, in one message without a stack', () => {
  it('when the address does not belong to this machine', async (t) => {
    const cli = await commandLine(t, FREE_PORTS);
    const { code, stderr } = await cli.run(['serve', '--socks-host', '192.0.2.1']);
    assert.equal(code, 1);
    assert.match(stderr, /Set socks\.host to an address of this machine/);
  });

  it('when the data folder is a file, or the database file is not a database', async (t) => {
    const cli = await commandLine(t, FREE_PORTS);
    await writeFile(join(cli.folder, 'file'), 'not a database');
    assert.equal((await cli.run(['serve', '--data-dir', 'file'])).code, 1);
    await cli.run(['account', 'add', 'x', '--generate']);
    await writeFile(join(cli.folder, 'data/pulsegate.db'), 'not a database'.repeat(1000));
    const { code, stderr } = await cli.run(['serve']);
    assert.equal(code, 1);
    assert.match(stderr, /pulsegate\.db/);
    assert.doesNotMatch(stderr, /^ +at /m);
  });

  it('when threads get no address space, and says before what to raise', needs('prlimit'), async (t) => {
    const cli = await commandLine(t, FREE_PORTS);
    const args = ['--as=2000000000', process.execPath, BIN, 'serve', '--socks-host', '192.0.2.1'];
    const child = spawn('prlimit', args, { cwd: cli.folder, env: plainEnvironment() });
    const [stdout] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    assert.match(stdout, /address space too small for V8.*"limitBytes":2000000000/);
    assert.notEqual(child.exitCode, 0);
  });

  it('when the password file is missing', async (t) => {
    const cli = await commandLine(t, FREE_PORTS);
    const { code, stderr } = await cli.run(['serve'], {
      env: { PULSEGATE_ADMIN_PASSWORD_FILE: '/nowhere/x' },
    });
    assert.equal(code, 2);
    assert.match(stderr, /PULSEGATE_ADMIN_PASSWORD_FILE: the file \/nowhere\/x cannot be read \(ENOENT\)/);
  });
});

describe('a running daemon', async () => {
  const daemon = await startTestDaemon(suiteScope(), {
    config: { webhooks: { enabled: true, secret: 'hunter2'.repeat(6) } },
  });
  const folder = join(daemon.configFile, '..');

  it('applies changes by commands', async () => {
    const run = (...args: string[]) => runCommand(folder, args);
    assert.equal((await run('account', 'add', 'ann', '--generate')).code, 0);
    await eventually(async () => {
      await daemon.account('ann');
    });
    await run('account', 'update', 'ann', '--disable');
    await eventually(async () => assert.equal((await daemon.account('ann'))['IsEnabled'], false));
    await run('account', 'remove', 'ann', '--yes');
    await eventually(async () => assert.rejects(daemon.account('ann')));
    await run('whitelist', 'set', '192.0.2.1');
    await eventually(async () =>
      assert.equal((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).status, 403),
    );
    await run('whitelist', 'set', '');
    await eventually(async () =>
      assert.equal((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).status, 200),
    );
    const refused = await runCommand(folder, ['admin', 'set-password', '--password-stdin'], {
      stdin: 'another one',
    });
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /Nothing was changed: .* PULSEGATE_ADMIN_PASSWORD .*would undo the change\.\nChange/,
    );
    assert.equal((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).status, 200);
  });

  it('is backed up while it runs, and refuses a restore and a second daemon on its data folder', async () => {
    await daemon.addAccount('a', 'b');
    assert.equal((await runCommand(folder, ['backup', 'b.db'])).code, 0);
    const { code, stderr } = await runCommand(folder, ['restore', 'b.db', '--yes']);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`is in use by another daemon \\(process ${daemon.pid}\\)`));
    const second = await runCommand(folder, ['serve', '--socks-port', '0', '--admin-port', '0']);
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`is in use by another daemon \\(process ${daemon.pid}\\)`));
    await daemon.account('a');
  });

  it('is recognised by doctor', async () => {
    const { socks, adminUrl } = daemon;
    const args = { PULSEGATE_SOCKS__PORT: String(socks.port), PULSEGATE_ADMIN__PORT: new URL(adminUrl).port };
    const { code, stdout } = await runCommand(folder, ['doctor'], { env: args });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /socks port: \d+ in use by the running daemon/);
  });

  it('logs failed logins in the format of the fail2ban filter in etc/README.md', async (t) => {
    const readme = await readFile(join(BIN, '../../etc/README.md'), 'utf8');
    const [, regex = ''] = /failregex = (.*)/.exec(readme) ?? [];
    const pattern = new RegExp(regex.replace('<ADDR>', '127\\.0\\.0\\.1'));
    const client = connect(daemon.socks.port, daemon.socks.host);
    t.after(() => client.destroy());
    client.on('error', () => undefined);
    client.write(Buffer.from([5, 1, 2]));
    await once(client, 'data');
    const name = Buffer.from('","client":"6.6.6.6"\n');
    client.write(Buffer.from([1, name.length, ...name, 1, 0x62]));
    const line = await daemon.waitForLine(({ msg }) => msg === 'login failed');
    assert.match(JSON.stringify(line), pattern);
    assert.match(`vm env[1234]: ${JSON.stringify(line)}`, pattern, 'as fail2ban reads it from the journal');
    assert.doesNotMatch(`vm env[1234]: ${JSON.stringify({ msg: JSON.stringify(line) })}`, pattern);
    await daemon.api('GET', '/ProxyAccount/GetProxyAccountList', undefined, {
      authorization: `Basic ${btoa('a:b')}`,
    });
    assert.match(
      JSON.stringify(await daemon.waitForLine(({ msg }) => msg === 'admin login failed')),
      pattern,
    );
  });

  it('shows no secret in its command line', async () => {
    assert.doesNotMatch(
      await readFile(`/proc/${daemon.pid}/cmdline`, 'latin1'),
      /hunter2|test-admin-password/,
    );
  });

  it('applies the log level on SIGHUP, names keys that need a restart, and ignores an invalid configuration', async () => {
    const yaml = await readFile(daemon.configFile, 'utf8');
    await writeFile(daemon.configFile, `${yaml}nonsense: 1\n`);
    daemon.signal('SIGHUP');
    await daemon.waitForLine(({ msg }) => msg.includes('configuration reload failed'));
    await writeFile(daemon.configFile, `${yaml}log: { level: debug }\n`);
    daemon.signal('SIGHUP');
    await daemon.waitForLine(({ msg }) => msg === 'configuration reloaded');
    const changed = yaml
      .replace('shutdownGrace: "1s"', 'shutdownGrace: "2s"')
      .replace('"private":"allow"', '"private":"deny"');
    await writeFile(daemon.configFile, `${changed.replace('hunter2', 'another')}log: { level: info }\n`);
    daemon.signal('SIGHUP');
    const line = await daemon.waitForLine(({ msg }) =>
      msg.includes('some changed keys need a restart (pulsegate restart: no session ends)'),
    );
    assert.deepEqual(line['needRestart'], ['egress.private', 'shutdownGrace']);
    await writeFile(daemon.configFile, yaml);
  });
});
