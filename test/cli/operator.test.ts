// Commands beside a running daemon: operators, sessions, tokens, limits, the audit log.
import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type CommandLine, commandLine, runCommand } from '../helpers/command.js';
import { signIn } from '../helpers/console.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { hold, startTarget } from '../helpers/targets.js';

type Json = Readonly<Record<string, unknown>>;

describe('with the daemon running', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let port = 0;
  before(async () => {
    daemon = await startTestDaemon(scope);
    await Promise.all([daemon.addAccount('ann', 'secret'), daemon.addAccount('bob', 'secret')]);
    const target = await startTarget(scope, hold);
    port = target.port;
  });
  const run = (...args: string[]) => runCommand(join(daemon.configFile, '..'), args);
  const play = (username: string) =>
    connectThrough({ port: daemon.socks.port, username, password: 'secret' }, '127.0.0.1', port);
  const sessions = async (...args: string[]) =>
    (await run('session', 'list', '--json', ...args)).json() as { id: string; username: string }[];

  it('operators are added, listed, changed and removed, and the daemon applies each change', async () => {
    const list = '/ProxyAccount/GetProxyAccountList';
    const statusOf = async (name: string) => {
      const authorization = `Basic ${Buffer.from(`${name}:a-good-password`).toString('base64')}`;
      return (await daemon.api('GET', list, undefined, { authorization })).status;
    };
    const withPassword = (...args: string[]) =>
      runCommand(join(daemon.configFile, '..'), [...args, '--password-stdin'], {
        stdin: 'a-good-password\n',
      });
    const added = await withPassword('operator', 'add', 'kim', '--role', 'viewer');
    assert.equal(added.stdout, 'Added kim (viewer).\n', added.stderr);
    await eventually(async () => assert.equal(await statusOf('kim'), 200));
    assert.match((await withPassword('operator', 'add', 'kim', '--role', 'viewer')).stderr, /has this name/);
    assert.match(
      (await withPassword('operator', 'add', 'admin', '--role', 'viewer')).stderr,
      /has this name/,
    );
    assert.equal((await withPassword('operator', 'add', 'lee', '--role', 'root')).code, 2);
    assert.match((await run('operator', 'list')).stdout, /^kim +viewer +enabled/m);

    assert.equal((await run('operator', 'update', 'kim', '--disable')).stdout, 'Updated kim.\n');
    await eventually(async () => assert.equal(await statusOf('kim'), 401));
    await run('operator', 'update', 'kim', '--enable', '--rename', 'lee');
    await eventually(async () => assert.equal(await statusOf('lee'), 200));
    assert.match((await run('operator', 'second-factor-off', 'lee')).stdout, /already disabled/);
    assert.equal((await run('operator', 'remove', 'lee')).code, 2);
    assert.equal((await run('operator', 'remove', 'lee', '--yes')).stdout, 'Removed lee.\n');
    await eventually(async () => assert.equal(await statusOf('lee'), 401));
    assert.match((await run('operator', 'update', 'lee', '--enable')).stderr, /No such operator: "lee"/);
  });

  it('a console session that a command ends stays ended when the operator is as before', async () => {
    const operate = (...args: string[]) =>
      runCommand(join(daemon.configFile, '..'), ['operator', ...args], { stdin: 'a-good-password\n' });
    await operate('add', 'sam', '--role', 'operator', '--password-stdin');
    const ways: readonly (readonly [string[], string[]])[] = [
      [
        ['sam', '--disable'],
        ['sam', '--enable'],
      ],
      [
        ['sam', '--rename', 'max'],
        ['max', '--rename', 'sam'],
      ],
      [
        ['sam', '--role', 'viewer'],
        ['sam', '--role', 'operator'],
      ],
    ];
    for (const [away, back] of ways) {
      const session = await eventually(() =>
        signIn(daemon, { username: 'sam', password: 'a-good-password' }),
      );
      const statusOf = async () => (await session.api('GET', '/api/v1/me')).status;
      assert.equal((await operate('update', ...away)).code, 0);
      await eventually(async () => assert.equal(await statusOf(), 401, away.join(' ')));
      assert.equal((await operate('update', ...back)).code, 0);
      // The list reads the operators from the database.
      assert.equal((await daemon.api('GET', '/api/v1/operators')).status, 200);
      assert.equal(await statusOf(), 401, back.join(' '));
    }
    await operate('remove', 'sam', '--yes');
  });

  it('sessions are listed, searched and ended, one or all of an account, and each end is in the audit log', async () => {
    await Promise.all([play('ann'), play('ann'), play('bob')]);
    await eventually(async () => assert.equal((await sessions()).length, 3));
    const [bob] = await sessions('--search', 'bob');
    assert.ok(bob);
    const { stdout } = await run('session', 'list', '--search', 'bob');
    assert.match(stdout, /^ID +USER NAME +CLIENT +ORIGIN +BY +DESTINATION/);
    assert.match(
      stdout,
      new RegExp(`^${bob.id.slice(0, 8)} +bob +127\\.0\\.0\\.1 +socks5 +127\\.0\\.0\\.1:${port}`, 'm'),
    );
    assert.match(stdout, /1 of 3 sessions\n$/);
    assert.match((await run('session', 'list', '--limit', '2')).stdout, /3 sessions, 2 shown\n$/);

    const unconfirmed = await run('session', 'end', bob.id.slice(0, 8));
    assert.deepEqual([unconfirmed.code, unconfirmed.stdout], [2, '']);
    assert.match(unconfirmed.stderr, /1 session of bob will end\. Use --yes/);
    assert.equal((await run('session', 'end', bob.id.slice(0, 8), '--yes')).stdout, 'Ended 1 session.\n');
    await eventually(async () => assert.equal((await sessions()).length, 2));
    const repeated = await run('session', 'end', bob.id, '--yes');
    assert.equal(repeated.code, 1);
    assert.match(repeated.stderr, /No such live session/);
    assert.deepEqual((await run('session', 'end', '--account', 'ann', '--yes', '--json')).json(), {
      ended: 2,
    });
    await eventually(async () => assert.deepEqual(await sessions(), []));
    assert.equal((await run('session', 'end', '--account', 'ann')).stdout, 'Ended 0 sessions.\n');
    assert.equal((await run('session', 'end')).code, 2);

    const entries = (await run('audit', '--action', 'session.end', '--json')).json() as Json[];
    assert.equal(entries.length, 2);
    assert.deepEqual([entries[0]?.['via'], entries[0]?.['address']], ['cli', null]);
    const table = (await run('audit', '--account', 'ann', '--via', 'cli', '--since', '1h')).stdout;
    assert.match(
      table,
      /^TIME +ACTOR +VIA .*\n.* session\.end +ann +client: "127\.0\.0\.1:\d+", destination: /,
    );
    assert.match((await run('audit', '--search', 'nobody')).stderr, /No audit entries found/);
  });

  it('the control socket is accessible only to the user of the daemon', async () => {
    const { mode } = await stat(join(daemon.dataDir, 'control.sock'));
    assert.equal(mode & 0o777, 0o600);
    assert.equal((await stat(daemon.dataDir)).mode & 0o777, 0o700);
  });

  it('a token is valid from its creation until it is revoked', async () => {
    const created = (
      await run('token', 'create', 'billing', '--scope', 'accounts:read', '--expires', '90d', '--json')
    ).json();
    const { secret, token } = created as { secret: string; token: Json };
    assert.match(secret, /^pg_[\w-]{43}$/);
    assert.deepEqual(token['scopes'], ['accounts:read']);
    assert.ok(!('hash' in token));
    const statusOf = async (path: string) => {
      const authorization = `Bearer ${secret}`;
      return (await daemon.api('GET', path, undefined, { authorization })).status;
    };
    await eventually(async () => assert.equal(await statusOf('/api/v1/accounts'), 200));
    assert.equal(await statusOf('/api/v1/audit'), 403);
    const list = await run('token', 'list');
    assert.match(list.stdout, new RegExp(`^billing +${secret.slice(0, 9)} +accounts:read `, 'm'));
    assert.ok(!list.stdout.includes(secret));
    assert.equal((await run('token', 'revoke', 'other', '--yes')).code, 1);
    assert.equal((await run('token', 'revoke', 'billing')).code, 2);
    assert.equal((await run('token', 'revoke', 'billing', '--yes')).stdout, 'Revoked billing.\n');
    await eventually(async () => assert.equal(await statusOf('/api/v1/accounts'), 401));
    assert.match((await run('token', 'list')).stderr, /No API tokens/);
  });

  it('limits are set, apply to the running daemon, and are shown with the current usage', async () => {
    await run('account', 'limits', 'set', 'bob', '--max-sessions', '1', '--quota', '50GiB');
    const player = await play('bob');
    await eventually(async () => assert.equal((await sessions('--search', 'bob')).length, 1));
    // The daemon reads the new limits after the command has ended.
    await eventually(async () => {
      const { limits } = (await run('account', 'limits', 'show', 'bob', '--json')).json() as { limits: Json };
      assert.equal(limits['maxSessions'], 1);
    });
    await assert.rejects(play('bob'));
    const { stdout } = await run('account', 'limits', 'show', 'bob');
    assert.match(stdout, /^max sessions +1 {3}\(now 1\)$/m);
    assert.match(stdout, /^quota +50 GiB {3}\(used \d+ B, resets \d{4}-\d\d-01 00:00 UTC\)$/m);
    assert.match(stdout, /^rate down +none$/m);
    const shown = (await run('account', 'limits', 'show', 'bob', '--json')).json() as { usage: Json };
    assert.equal(shown.usage['sessions'], 1);
    player.destroy();
  });
});

describe('without the daemon', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope, 'egress: { classes: { home: {} } }');
    await cli.run(['account', 'add', 'ann', '--generate']);
  });
  const limits = (...args: string[]) => cli.run(['account', 'limits', ...args]);

  it('session commands fail with an error that names the next step', async () => {
    for (const args of [['list'], ['end', '3f2a', '--yes'], ['end', '--account', 'ann', '--yes']]) {
      const { code, stdout, stderr } = await cli.run(['session', ...args]);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^No daemon is running for \/\S+\/data, .*\n.*--config FILE\.\n$/);
    }
    // A crash leaves a socket file that does not answer. With PostgreSQL, only a daemon creates the folder.
    await mkdir(join(cli.folder, 'data'), { recursive: true });
    await writeFile(join(cli.folder, 'data/control.sock'), '');
    assert.match((await cli.run(['session', 'list'])).stderr, /^No daemon is running/);
  });

  it('limits are set and removed one by one, and invalid limits are refused', async () => {
    const set = [
      '--max-sessions',
      '4',
      '--rate-up',
      '512KiB/s',
      '--rate-down',
      '1MiB',
      '--quota-period',
      'week',
    ];
    assert.match((await limits('set', 'ann', ...set)).stdout, /^rate up +512 KiB\/s\nrate down +1 MiB\/s$/m);
    await limits('set', 'ann', '--max-addresses', '2', '--egress-class', 'home', '--rate-up', 'none');
    const shown = (await limits('show', 'ann', '--json')).json() as { limits: Json };
    assert.deepEqual(shown.limits, {
      maxSessions: 4,
      maxClientAddresses: 2,
      bytesPerSecondUp: null,
      bytesPerSecondDown: 1024 ** 2,
      quotaBytes: null,
      quotaPeriod: 'week',
      egressClass: 'home',
      connectionsPerSecond: null,
      connectionsPerMinute: null,
      destinationsPerMinute: null,
      udpDestinationsPerSecond: null,
      failedConnectionsPerMinute: null,
      lookupsPerMinute: null,
      maxConnections: null,
    });
    const guarded = [
      ...[
        '--connections-per-second',
        '5',
        '--connections-per-minute',
        '0',
        '--destinations-per-minute',
        '60',
      ],
      ...[
        '--udp-destinations-per-second',
        '0',
        '--failed-connections-per-minute',
        '7',
        '--max-connections',
        '9',
      ],
    ];
    const update = await cli.run(['account', 'update', 'ann', ...guarded, '--max-addresses', 'none']);
    assert.match(update.stdout, /^Updated ann/);
    const lines = (await limits('show', 'ann')).stdout;
    assert.match(lines, /^max addresses +none /m);
    const shownGuard = [
      ...['connections per second +5', 'connections per minute +any number', 'destinations per minute +60'],
      ...['udp destinations per second +any number', 'failed connections per minute +7'],
      ...['lookups per minute +as configured', 'max connections +9'],
    ];
    assert.match(lines, new RegExp(`^${shownGuard.join('\n')}$`, 'm'));
    const invalid: [args: string[], code: number, expected: RegExp][] = [
      [[], 2, /No limit given/],
      [['--json'], 2, /No limit given/],
      [['--max-sessions', '0'], 2, /positive whole number, or none/],
      [['--lookups-per-minute', '10000001'], 2, /from 0 \(any number\) to 10000000, or none/],
      [['--quota', '5'], 2, /size such as 500MiB/],
      [['--rate-up', 'fast'], 2, /rate such as/],
      [['--quota-period', 'year'], 2, /Allowed choices are day, week, month, never/],
      [['--egress-class', 'away'], 2, /Unknown egress class "away"\. Configured classes: home\./],
    ];
    for (const [args, code, expected] of invalid) {
      const result = await limits('set', 'ann', ...args);
      assert.deepEqual([result.code, result.stdout], [code, '']);
      assert.match(result.stderr, expected);
    }
    assert.equal((await limits('set', 'ghost', '--quota', 'none')).code, 1);
    assert.equal((await limits('reset-usage', 'ann')).code, 2);
    assert.match((await limits('reset-usage', 'ann', '--yes')).stdout, /Usage of ann reset/);
  });

  it('tokens are created, and an invalid scope, name or expiry is refused', async () => {
    const create = (...args: string[]) => cli.run(['token', 'create', ...args]);
    assert.match((await create('ops', '--scope', 'audit:read')).stdout, /^pg_\S+ {3}\(shown only once/);
    assert.match((await create('ops')).stderr, /--scope <scope\.\.\.>' not specified/);
    assert.match((await create('ops', '--scope', 'all')).stderr, /Allowed choices are accounts:read/);
    assert.equal((await create(' ', '--scope', 'audit:read')).code, 2);
    assert.equal((await create('ops', '--scope', 'audit:read', '--expires', '2020-01-01')).code, 2);
    await create('ops', '--scope', 'audit:read');
    const ambiguous = await cli.run(['token', 'revoke', 'ops', '--yes']);
    assert.match(ambiguous.stderr, /2 tokens are named "ops"\. Use a prefix: pg_\S+, pg_\S+\n/);
    const [, prefix = ''] = /: (pg_[\w-]+),/.exec(ambiguous.stderr) ?? [];
    assert.equal((await cli.run(['token', 'revoke', prefix, '--yes'])).code, 0);
    assert.equal(((await cli.run(['token', 'list', '--json'])).json() as Json[]).length, 1);
  });
});
