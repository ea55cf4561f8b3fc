// The command line as a script sees it: a real database, exit codes, stdout and stderr.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type CommandLine, commandLine, type RunOptions, runProcess } from '../helpers/command.js';
import { BIN, plainEnvironment } from '../helpers/daemon.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { suiteScope } from '../helpers/suite.js';

/** Invalid command lines, the exit code, and the expected text on stderr. */
const MISUSES: readonly (readonly [args: string[], code: number, expected: RegExp, options?: RunOptions])[] =
  [
    [['nonsense'], 2, /unknown command 'nonsense'/],
    [['account', 'nonsense'], 2, /unknown command 'nonsense'/],
    [['account', 'add'], 2, /missing required argument 'name'/],
    [['account', 'add', 'x', '--password', 'hunter2'], 2, /unknown option '--password'/],
    [['account', 'add', 'x'], 2, /stdin is not a terminal/],
    [['account', 'add', 'x', '--generate', '--password-stdin'], 2, /cannot be used together/],
    [['account', 'add', 'x', '--password-stdin'], 2, /Stdin contains no password/],
    [['account', 'add', 'x', '--password-stdin'], 2, /too long/, { stdin: 'x'.repeat(5000) }],
    [['account', 'add', 'x', '--password-stdin'], 1, /1 to 255 bytes/, { stdin: 'x'.repeat(256) }],
    [['account', 'add', 'x\u0001', '--generate'], 1, /without control characters/],
    [['account', 'add', '', '--generate'], 1, /must not be empty/],
    [['account', 'add', 'x', '--generate', '--expires', 'soon'], 2, /Invalid time "soon"/],
    [['account', 'add', 'x', '--generate', '--expires', '2026-02-30'], 2, /Invalid time/],
    [['account', 'show', 'ghost'], 1, /No such account: "ghost"/],
    [['account', 'update', 'ghost', '--enable'], 1, /No such account/],
    [['account', 'update', 'x', '--enable', '--disable'], 2, /cannot be used together/],
    [['account', 'update', 'x'], 2, /No change given/],
    [['account', 'update', 'x', '--json'], 2, /No change given/],
    [['account', 'export', 'no-such-folder/accounts.csv'], 1, /accounts\.csv: no such directory\.$/m],
    [['account', 'remove', 'ghost', '--yes'], 1, /No such account/],
    [['account', 'import', 'missing.csv'], 1, /No such file: missing\.csv/],
    [['account', 'import', '.'], 1, /No such file/],
    [
      ['account', 'import', 'pulsegate.yaml', '--existing', 'merge'],
      2,
      /Allowed choices are keep, replace, skip/,
    ],
    [['account', 'export', '--format', 'xml'], 2, /Allowed choices are csv, json/],
    [['account', 'export', 'pulsegate.yaml'], 1, /file exists/],
    [
      ['whitelist', 'set', '1.2.3.4, nonsense, 10.0.0.0/8'],
      2,
      /Invalid entries: nonsense\. The whitelist was not changed/,
    ],
    [['whitelist', 'check', 'nonsense'], 2, /nonsense is not an IPv4 or IPv6 address/],
    [['admin', 'set-password'], 2, /stdin is not a terminal/],
    [
      ['admin', 'set-password', '--password-stdin', '--username', 'a:b'],
      1,
      /without a colon/,
      { stdin: 'x' },
    ],
    [['admin', 'set-password', '--password-stdin'], 1, /at least 8 characters/, { stdin: 'seven77\n' }],
    [
      ['admin', 'set-password', '--password-stdin'],
      1,
      /the variable PULSEGATE_ADMIN_PASSWORD sets .*would undo/,
      { stdin: 'long enough', env: { PULSEGATE_ADMIN_PASSWORD: 'x' } },
    ],
    [['help', 'account', 'nonsense'], 2, /unknown command 'nonsense'/],
    [['node', 'drain', ''], 1, /No such node: ""\. See: pulsegate node list/],
    [['agent', 'send', '', 'hi'], 1, /Unknown agent ""\. Configured agents: none\./],
    [['run', 'show', 'zz'], 1, /No such run: "zz"/],
    [['backup', '/nowhere/x.db'], 1, /Cannot write backup to \/nowhere\/x\.db/],
    [['restore', 'missing.db'], 2, /Use --yes to confirm/],
    [['restore', 'missing.db', '--yes'], 1, /missing\.db cannot be restored/],
    [['serve', '--socks-port', 'abc'], 2, /flag --socks-port: socks\.port: found "abc"/],
    [['serve', '--log-level', 'loud'], 2, /flag --log-level/],
    [['config', 'check', '--config', 'missing.yaml'], 2, /missing\.yaml: no such file/],
    [
      ['config', 'check'],
      2,
      /PULSEGATE_ADMIN_PASSWORD_FILE: the file \/nowhere cannot be read/,
      { env: { PULSEGATE_ADMIN_PASSWORD_FILE: '/nowhere' } },
    ],
    [['config', 'check'], 2, /PULSEGATE_SOKS__PORT/, { env: { PULSEGATE_SOKS__PORT: '1' } }],
    [['account', 'list'], 2, /socks\.port/, { env: { PULSEGATE_SOCKS__PORT: 'x' } }],
    [['account', 'list'], 1, /\/dev\/null/, { env: { PULSEGATE_DATA_DIR: '/dev/null/x' } }],
  ];

/** For tests of what only SQLite has, or of a configuration without another secret. */
const SQLITE = `database: { client: ${JSON.stringify(sqliteClient)} }\n`;

describe('wrong usage', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope);
  });
  for (const [args, code, expected, options] of MISUSES) {
    it(`is refused: ${args.join(' ').slice(0, 70)} ${options?.env ? JSON.stringify(options.env) : ''}`, async () => {
      const result = await cli.run(args, options);
      assert.match(result.stderr, expected);
      assert.equal(result.code, code);
      assert.doesNotMatch(result.stderr, /^ +at |node:internal|Unexpected error/m);
      assert.equal(result.stdout, '');
    });
  }
});

describe('accounts', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope, 'socks: { host: "::1", port: 4321 }');
  });

  it('are added with a password from stdin and a percent-encoded link', async () => {
    const { code, stdout } = await cli.run(
      ['account', 'add', 'pläyer 1', '--password-stdin', '--remarks', 'hi'],
      { stdin: 'p@ss:w/örd\n' },
    );
    assert.equal(code, 0);
    assert.match(stdout, /socks5h:\/\/pl%C3%A4yer%201:p%40ss%3Aw%2F%C3%B6rd@\[::1\]:4321/);
  });

  it('are added with a random password, which is printed once', async () => {
    const result = await cli.run([
      'account',
      'add',
      'random',
      '--generate',
      '--json',
      '--expires',
      '30d',
      '--disabled',
    ]);
    const { password, link } = result.json() as { password: string; link: string };
    assert.match(password, /^[\w-]{20}$/);
    assert.equal(link, `socks5h://random:${password}@[::1]:4321`);
    assert.doesNotMatch(
      (await cli.run(['account', 'show', 'random', '--json'])).stdout,
      new RegExp(password),
    );
  });

  it('have a link in the requested format, alone on stdout', async () => {
    const link = (format: string, ...more: string[]) =>
      cli.run(['account', 'link', 'pläyer 1', '--password-stdin', '--format', format, ...more], {
        stdin: 'p@ss:w/örd\n',
      });
    assert.deepEqual((await link('plain')).stdout, '[::1]:4321:pläyer 1:p@ss:w/örd\n');
    assert.match((await link('proxifier')).stdout, /^<\?xml [\s\S]*<\/ProxifierProfile>\n$/);
    const unsupported = await link('shadowrocket');
    assert.deepEqual([unsupported.code, unsupported.stdout], [1, '']);
    assert.match(unsupported.stderr, /shadowrocket cannot represent this user name or password/);
    assert.equal((await link('word')).code, 2);
    assert.equal((await link('clash', '--json')).code, 2);
  });

  it('say after a new password that the link goes on working', async (t) => {
    const one = await commandLine(
      t,
      `${SQLITE}admin: { playerPage: { enabled: true, url: "http://play.example" } }`,
    );
    await one.run(['account', 'add', 'ann', '--generate']);
    const noteOf = async () => (await one.run(['account', 'update', 'ann', '--generate'])).stderr;
    assert.doesNotMatch(await noteOf(), /The link of ann/);
    await one.run(['account', 'subscription', 'create', 'ann']);
    const replace = 'pulsegate account subscription create ann --yes';
    assert.match(
      await noteOf(),
      new RegExp(`^The link of ann goes on working\\. To replace it: ${replace}$`, 'm'),
    );
  });

  it('are refused when the name is taken', async () => {
    const { code, stderr } = await cli.run(['account', 'add', 'random', '--generate']);
    assert.deepEqual([code, stderr], [1, 'An account with this user name already exists.\n']);
  });

  it('are listed, searched and shown', async () => {
    const names = async (...args: string[]) =>
      ((await cli.run(['account', 'list', '--json', ...args])).json() as { username: string }[]).map(
        ({ username }) => username,
      );
    assert.deepEqual(await names(), ['pläyer 1', 'random']);
    assert.deepEqual(await names('--search', 'RAND'), ['random']);
    assert.deepEqual(await names('--search', 'hi'), ['pläyer 1']);
    const { stdout } = await cli.run(['account', 'list', '--search', 'random']);
    assert.match(stdout, /^USER NAME +STATE/);
    assert.match(stdout, /^random +disabled/m);
    assert.match(stdout, /1 of 2 accounts/);
    const shown = (await cli.run(['account', 'show', 'random', '--json'])).json() as Record<string, unknown>;
    assert.equal(shown['isEnabled'], false);
    assert.ok(Math.abs(Date.parse(String(shown['expiresAt'])) - Date.now() - 30 * 86_400_000) < 60_000);
    const byId = (await cli.run(['account', 'show', String(shown['id']), '--json'])).json();
    assert.deepEqual(byId, shown);
  });

  it('keep the fields that an update does not give', async () => {
    assert.equal(
      (await cli.run(['account', 'update', 'pläyer 1', '--expires', '2030-01-02T03:04:05'])).code,
      0,
    );
    assert.equal((await cli.run(['account', 'update', 'pläyer 1', '--disable'])).code, 0);
    const shown = (await cli.run(['account', 'show', 'pläyer 1', '--json'])).json() as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [shown['remarks'], shown['expiresAt'], shown['isEnabled']],
      ['hi', '2030-01-02T03:04:05.000Z', false],
    );
    const update = [
      'account',
      'update',
      'pläyer 1',
      '--remarks',
      '',
      '--expires',
      'never',
      '--enable',
      '--json',
    ];
    const updated = (await cli.run(update)).json() as Record<string, unknown>;
    assert.deepEqual([updated['remarks'], updated['expiresAt'], updated['isEnabled']], [null, null, true]);
  });

  it('are removed only after a confirmation, and either all or none', async () => {
    const refused = await cli.run(['account', 'remove', 'random']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /random and 0 heartbeat entries will be removed\. Use --yes/);
    assert.equal((await cli.run(['account', 'remove', 'random', 'ghost', '--yes'])).code, 1);
    assert.equal((await cli.run(['account', 'show', 'random'])).code, 0);
    assert.equal((await cli.run(['account', 'remove', 'random', '--yes'])).code, 0);
    assert.equal((await cli.run(['account', 'show', 'random'])).code, 1);
  });

  it('are printed without control characters', async () => {
    await cli.run(['account', 'add', 'evil', '--generate', '--remarks', 'a\u001b[31mred\u202e']);
    assert.doesNotMatch((await cli.run(['account', 'list'])).stdout.replaceAll('\n', ''), /\p{Cc}|\p{Cf}/u);
  });

  it('are listed until the reader closes the pipe, without an error', async () => {
    const { code, stderr } = await runProcess(cli.folder, ['account', 'list', '--json']);
    assert.deepEqual([code, stderr], [0, '']);
  });
});

describe('files of accounts', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope);
    await writeFile(
      join(cli.folder, 'in.csv'),
      'Username,Password,Remarks\nann,one,=1+1\nbob,two,\n,three,\nann,again,\n',
    );
    // Creates the database, which a dry run does not.
    await cli.run(['account', 'import', '-', '--format', 'json'], { stdin: '[]' });
  });

  it('are not imported with --dry-run', async () => {
    const { code, stdout } = await cli.run(['account', 'import', 'in.csv', '--dry-run']);
    assert.equal(code, 1);
    assert.match(stdout, /line 4: failed: the user name is missing/);
    assert.match(stdout, /line 5: ann failed: the file contains this user name twice/);
    assert.match(
      stdout,
      /Dry run, nothing was written: 4 read, 2 added, 0 replaced, 0 kept, 0 skipped, 2 failed/,
    );
    assert.deepEqual((await cli.run(['account', 'list', '--json'])).json(), []);
  });

  it('of CCProxy are read, and the settings that will be lost are shown', async () => {
    await writeFile(
      join(cli.folder, 'AccInfo.ini'),
      '[User001]\nUserName=old\nPassword=x\nTimeSchedule=0\nOutgoingIP=127.0.0.1\n',
    );
    const { code, stdout } = await cli.run(['account', 'import', 'AccInfo.ini', '--dry-run']);
    assert.equal(code, 0);
    assert.match(stdout, /will be lost: time schedule .*\(1 account\)/);
    assert.match(stdout, /will be added: 1 exit for outgoing addresses/);
  });

  it('are imported, with a report', async () => {
    const report = (await cli.run(['account', 'import', 'in.csv', '--json'])).json() as Record<
      string,
      unknown
    >;
    assert.deepEqual([report['added'], report['failed']], [2, 2]);
    assert.equal(((await cli.run(['account', 'list', '--json'])).json() as unknown[]).length, 2);
  });

  it('skip or replace existing accounts, as --existing says', async () => {
    await writeFile(join(cli.folder, 'more.json'), '[{"username":"bob","remarks":"new"},{"username":"cat"}]');
    const skip = await cli.run(['account', 'import', 'more.json']);
    assert.match(
      skip.stdout,
      /line 1: bob skipped: the account already exists\nline 1: cat failed: a new account needs a password/,
    );
    const refused = await cli.run(['account', 'import', 'more.json', '--existing', 'replace']);
    assert.match(refused.stderr, /1 account will be overwritten\. Use --yes/);
    assert.equal(refused.code, 2);
    await cli.run(['account', 'import', 'more.json', '--existing', 'replace', '--yes']);
    const { remarks } = (await cli.run(['account', 'show', 'bob', '--json'])).json() as { remarks: string };
    assert.equal(remarks, 'new');
  });

  it('are imported from stdin (-), without a question', async () => {
    const csv = 'username,password,remarks\nbob,,piped\nfay,six,\n';
    const run = (...args: string[]) => cli.run(['account', 'import', '-', ...args], { stdin: csv });
    assert.match(
      (await run()).stdout,
      /^line 2: bob skipped: .*\n2 read, 1 added, 0 replaced, 0 kept, 1 skipped/,
    );
    const refused = await run('--existing', 'replace');
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /2 accounts will be overwritten\. Use --yes/);
    const json = await cli.run(['account', 'import', '-', '--format', 'json', '--json'], {
      stdin: '[{"username":"gil","password":"x"}]',
    });
    assert.equal((json.json() as { added: number }).added, 1);
    const exported = await cli.run(['account', 'export', '-', '--format', 'json']);
    assert.equal((exported.json() as unknown[]).length, 4);
    await cli.run(['account', 'remove', 'fay', 'gil', '--yes']);
  });

  it('move accounts with ids and passwords to another installation', async () => {
    const other = await commandLine(scope);
    for (const format of ['csv', 'json']) {
      const file = join(other.folder, `out.${format}`);
      assert.equal((await cli.run(['account', 'export', file, '--with-hashes'])).code, 0);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
    }
    assert.match(await readFile(join(other.folder, 'out.csv'), 'utf8'), /,"'=1\+1",/);
    assert.equal((await other.run(['account', 'import', 'out.csv'])).code, 0);
    const exported = async (from: CommandLine) =>
      (await from.run(['account', 'export', '--format', 'json', '--with-hashes'])).stdout;
    assert.equal(await exported(other), await exported(cli));
  });
});

describe('the whitelist', () => {
  it('is set, shown and checked', async (t) => {
    const cli = await commandLine(t);
    await cli.run(['account', 'add', 'x', '--generate']);
    assert.match((await cli.run(['whitelist', 'show'])).stdout, /empty: every address is allowed/);
    assert.equal((await cli.run(['whitelist', 'check', '1.2.3.4'])).code, 0);
    await cli.run(['whitelist', 'set', '10.0.*， 2001:db8::/32']);
    assert.deepEqual((await cli.run(['whitelist', 'show', '--json'])).json(), {
      whitelist: '10.0.*， 2001:db8::/32',
    });
    assert.equal((await cli.run(['whitelist', 'check', '10.0.0.1'])).code, 0);
    const refused = await cli.run(['whitelist', 'check', '1.2.3.4', '--json']);
    assert.deepEqual([refused.code, refused.json()], [1, { address: '1.2.3.4', allowed: false }]);
    await cli.run(['whitelist', 'set', '']);
    assert.equal((await cli.run(['whitelist', 'check', '1.2.3.4'])).code, 0);
  });
});

describe('config', () => {
  it('check prints ok, or all errors', async (t) => {
    const cli = await commandLine(t);
    assert.equal((await cli.run(['config', 'check'])).stdout, 'pulsegate.yaml: ok\n');
    await writeFile(join(cli.folder, 'pulsegate.yaml'), 'socks: { port: -1, prot: 2 }');
    const { code, stderr } = await cli.run(['config', 'check']);
    assert.equal(code, 2);
    assert.match(stderr, /1:16: socks\.port: found -1/);
    assert.match(stderr, /1:20: socks\.prot: .* did you mean socks\.port\?/);
  });

  it('check and doctor say for whom port 25 is open', async (t) => {
    const cli = await commandLine(t);
    const said = async (egress: string) => {
      await writeFile(join(cli.folder, 'pulsegate.yaml'), `socks: { host: 0.0.0.0, port: 0 }\n${egress}`);
      const { findings } = (await cli.run(['doctor', '--json'])).json() as {
        findings: Record<string, string>[];
      };
      const found = findings.flatMap(({ check, state, text }) =>
        check === 'egress' ? [`${state} ${text}`] : [],
      );
      return { check: (await cli.run(['config', 'check'])).stderr, doctor: found.join() };
    };
    const unset = await said('egress: { allow: ["10.0.0.1:25"], classes: { mail: { denyPorts: [] } } }');
    assert.match(unset.check, /^note: egress\.denyPorts is not set: port 25/);
    assert.match(
      unset.check,
      /^warning: egress\.allow\[0\]: 10\.0\.0\.1:25 stays denied by denyPorts \(smtp\)$/m,
    );
    assert.equal(unset.doctor, 'ok port 25 is denied, except for accounts of mail');
    const open = await said('egress: { denyPorts: [scans], allow: ["10.0.0.1:25"] }');
    assert.equal(open.check, '');
    assert.match(open.doctor, /^warn egress\.denyPorts has no smtp/);
  });

  it('check names every unreadable file and its purpose', async (t) => {
    const cli = await commandLine(t);
    const pathOf = (name: string) => join(cli.folder, name);
    await writeFile(pathOf('empty'), '\n');
    await writeFile(pathOf('plain'), 'secret\n');
    await writeFile(
      pathOf('pulsegate.yaml'),
      `
socks: { upstreams: [{ proxy: "127.0.0.1:1", username: a, passwordFile: ${pathOf('upstream')} }] }
webhooks:
  enabled: true
  secretFile: ${pathOf('token')}
  previousSecretFile: ${pathOf('empty')}
  agents: { sends: { signature: { scheme: standard, secretFile: ${pathOf('plain')}, previousSecretFile: ${pathOf('gone')} } } }
agents:
  sends: { type: http, url: "http://127.0.0.1:1/", apiKeyFile: ${pathOf('key')} }
`,
    );
    const { code, stderr } = await cli.run(['config', 'check']);
    assert.equal(code, 2);
    for (const expected of [
      /socks\.upstreams\[0\]\.passwordFile: .*upstream cannot be read \(ENOENT/,
      /webhooks\.secretFile: .*token cannot be read \(ENOENT/,
      /webhooks\.previousSecretFile: .*empty is empty/,
      /webhooks\.agents\.sends\.signature\.previousSecretFile: .*gone cannot be read/,
      /agents\.sends\.apiKeyFile: .*key cannot be read/,
    ])
      assert.match(stderr, expected);
    const doctor = await cli.run(['doctor', '--json']);
    const { findings } = doctor.json() as { findings: { check: string; state: string }[] };
    assert.deepEqual(
      [doctor.code, findings.filter(({ check, state }) => check === 'files' && state === 'stop').length],
      [1, 5],
    );
    await writeFile(pathOf('gone'), 'whsec_AAAAAAAAAAAAAAAA\n');
    const wrongFormat = await cli.run(['config', 'check']);
    assert.match(wrongFormat.stderr, /signature\.secretFile: .*plain must contain whsec_ and base64/);
  });

  it('check and doctor warn of webhooks that can trigger no agent', async (t) => {
    const webhooks = 'webhooks: { enabled: true, secret: hunter2-hunter2-hunter2-hunter2-hunter2';
    const agents = 'agents: { reporter: { type: http, url: "http://127.0.0.1:1/" } }';
    const expected = /webhooks\.agents is empty: .*; add webhooks: \{ agents: \{ reporter: \{\} \} \}/;
    const cli = await commandLine(t, `${webhooks} }\n${agents}`);
    assert.match((await cli.run(['config', 'check'])).stderr, expected);
    assert.match((await cli.run(['doctor'])).stdout, expected);
    const listed = await commandLine(t, `${webhooks}, agents: { reporter: {} } }\n${agents}`);
    assert.doesNotMatch((await listed.run(['config', 'check'])).stderr, /webhooks/);
  });

  it('check warns of files of authorities of upstream proxies, and refuses other forms of a proxy', async (t) => {
    const cli = await commandLine(t);
    const config = join(cli.folder, 'pulsegate.yaml');
    const check = async (proxy: string) => {
      await writeFile(config, `dataDir: ${cli.folder}\nsocks: { upstreams: [{ proxy: "${proxy}" }] }\n`);
      return cli.run(['config', 'check', '--config', config]);
    };
    const missing = await check('https://p.example:443?ca=/nowhere/ca.pem');
    assert.match(
      missing.stderr + missing.stdout,
      /warning: socks\.upstreams\[0\]\.proxy: the file \/nowhere\/ca\.pem cannot be read \(ENOENT\)/,
    );
    const empty = await check(`socks5s://p.example:443?ca=${config}`);
    assert.match(empty.stderr + empty.stdout, /proxy: the file \S+ contains no certificate in PEM format/);
    const refused = await check('http://p.example:443?ca=/nowhere/ca.pem');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /socks\.upstreams\[0\]\.proxy.*socks5s:\/\/ or https:\/\//);
  });

  it('check and doctor warn of missing programs, folders and sockets of agents', async (t) => {
    // 107 bytes, as many as the address of a Unix socket may have
    const longest = `/${'x'.repeat(106)}`;
    const cli = await commandLine(
      t,
      'agents: { a: { type: command, command: [/nowhere/x], cwd: /nowhere },\n' +
        ' b: { type: socket, path: /nowhere.sock }, c: { type: socket, path: /etc/hosts },\n' +
        ` d: { type: socket, path: ${longest} } }`,
    );
    const { code, stderr } = await cli.run(['config', 'check']);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /agents\.a\.cwd: no such folder: \/nowhere/);
    assert.match(stderr, /agents\.a\.command\[0\]: not an executable file: \/nowhere\/x/);
    assert.match(stderr, /agents\.b\.path: no such socket: \/nowhere\.sock/);
    assert.ok(stderr.includes(`agents.d.path: no such socket: ${longest};`), stderr);
    assert.match(stderr, /agents\.c\.path: not a socket: \/etc\/hosts/);
    assert.match((await cli.run(['doctor'])).stdout, /agents\.b\.path: no such socket/);
  });

  it('print writes a valid configuration without secrets', async (t) => {
    const cli = await commandLine(
      t,
      `${SQLITE}webhooks: { enabled: true, secret: hunter2-hunter2-hunter2-hunter2-hunter2 }\nsocks: { idleTimeout: 7m }`,
    );
    const { stdout } = await cli.run(['config', 'print']);
    assert.match(stdout, /idleTimeout: 7m/);
    assert.match(stdout, /secret: \(hidden\)/);
    assert.doesNotMatch(stdout, /hunter2/);
    await writeFile(join(cli.folder, 'printed.yaml'), stdout);
    assert.equal((await cli.run(['config', 'check', '--config', 'printed.yaml'])).code, 0);
  });
});

describe('doctor', () => {
  it('reports what would prevent a start of the daemon', async (t) => {
    const otherServer = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => otherServer.once('listening', resolve));
    t.after(() => otherServer.close());
    const { port } = otherServer.address() as { port: number };
    const cli = await commandLine(
      t,
      `socks: { port: ${port} }\nadmin: { host: 0.0.0.0, port: 0 }\ndns: { servers: ["127.0.0.1:1"], timeout: 1s }`,
    );
    const result = await cli.run(['doctor', '--json']);
    const { ok, findings } = result.json() as {
      ok: boolean;
      findings: { check: string; state: string; text: string }[];
    };
    const state = (check: string) => findings.find((finding) => finding.check === check)?.state;
    assert.deepEqual([ok, result.code], [false, 1]);
    assert.deepEqual(
      ['node', 'data folder', 'socks port', 'admin port', 'admin exposure', 'dns'].map(state),
      ['ok', 'ok', 'stop', 'ok', 'warn', 'warn'],
    );
    assert.ok(state('disk'), 'doctor reports the free space on the disk');
    // doctor creates no data folder.
    await assert.rejects(stat(join(cli.folder, 'data')));
  });

  it('as root judges the user who owns the data folder', { skip: process.getuid?.() !== 0 }, async (t) => {
    const cli = await commandLine(t);
    const data = join(cli.folder, 'data');
    await mkdir(data, { recursive: true });
    const user = async () => /(ok|warn) +user: .*/.exec((await cli.run(['doctor'])).stdout)?.[0];
    await chown(data, 65_534, 65_534);
    assert.equal(await user(), `ok   user: the daemon's is 65534, the owner of ${data}`);
    await chown(data, 0, 0);
    assert.match((await user()) ?? '', /^warn user: running as root|pulsegate\.service/);
  });

  it('warns of secrets that other users can read, in the configuration and in files that it names', async (t) => {
    const cli = await commandLine(
      t,
      'webhooks: { enabled: true, secret: hunter2-hunter2-hunter2-hunter2-hunter2 }\n' +
        'socks: { upstreams: [{ proxy: "127.0.0.1:1", username: a, passwordFile: upstream }] }',
    );
    const [file, upstream] = [join(cli.folder, 'pulsegate.yaml'), join(cli.folder, 'upstream')];
    await writeFile(upstream, 'secret');
    const warnings = async (env = {}) => {
      const { findings } = (await cli.run(['doctor', '--json'], { env })).json() as {
        findings: { check: string; text: string }[];
      };
      return findings.flatMap(({ check, text }) => (check === 'secrets' ? [text] : []));
    };
    await chmod(file, 0o644);
    await chmod(upstream, 0o644);
    const [config = '', named = ''] = await warnings();
    assert.match(
      config,
      /^other users can read .*pulsegate\.yaml, which contains webhooks\.secret; run chmod 640/,
    );
    assert.match(
      named,
      /^other users can read upstream \(socks\.upstreams\[0\]\.passwordFile\); run chmod 600/,
    );
    await chmod(file, 0o640);
    await chmod(upstream, 0o600);
    assert.deepEqual(await warnings(), []);
    // A secret from the environment is not in the file.
    await chmod(file, 0o644);
    const set = { PULSEGATE_WEBHOOKS__SECRET: 'hunter3-hunter3-hunter3-hunter3-hunter3' };
    assert.deepEqual(await warnings(set), []);
  });

  it('passes on a healthy machine, and reports the limitation of the node engine', async (t) => {
    const cli = await commandLine(t, 'socks: { port: 0, engine: node }\nadmin: { port: 0 }');
    const added = await cli.run(['account', 'add', 'x', '--generate']);
    assert.match(
      added.stderr,
      /^The port in the link is unknown: with socks\.port 0 the daemon chooses a port/,
    );
    const { code, stdout } = await cli.run(['doctor']);
    assert.equal(code, 0);
    assert.match(stdout, /ok {3}database: opens; 1 accounts/);
    assert.match(
      stdout,
      /ok {3}engine: node, set by socks\.engine; with it, a flood of UDP datagrams .* delays the others/,
    );
  });
});

describe('a backup of a SQLite database', () => {
  it('is written, never overwrites a file, and restores the data', async (t) => {
    const cli = await commandLine(t, `${SQLITE}agents: { a: { type: command, command: ["true"] } }`);
    await cli.run(['account', 'add', 'ann', '--generate']);
    await cli.run(['agent', 'send', 'a', 'hello']);
    assert.equal((await cli.run(['backup', 'b.db'])).code, 0);
    assert.equal((await stat(join(cli.folder, 'b.db'))).mode & 0o777, 0o600);
    assert.match((await cli.run(['backup', 'b.db'])).stderr, /file exists/);
    await cli.run(['account', 'remove', 'ann', '--yes']);
    const restored = await cli.run(['restore', 'b.db', '--yes']);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /Unfinished runs cancelled: 1\. Use --keep-runs to run them\./);
    const withRuns = await cli.run(['restore', 'b.db', '--yes', '--keep-runs']);
    assert.doesNotMatch(withRuns.stdout, /cancelled/);
    assert.equal((await cli.run(['account', 'show', 'ann'])).code, 0);
  });

  it('is written to stdout and read from stdin (-)', async (t) => {
    const cli = await commandLine(t, SQLITE);
    await cli.run(['account', 'add', 'ann', '--generate']);
    const pipe = `"${process.execPath}" "${BIN}" backup - > b.db && ls data && "${process.execPath}" "${BIN}" restore - --yes < b.db`;
    const { stdout } = await promisify(execFile)('sh', ['-c', pipe], {
      cwd: cli.folder,
      env: plainEnvironment(),
    });
    assert.match(stdout, /^pulsegate\.db\nRestored\. /, 'the folder contains no temporary file');
    assert.equal((await cli.run(['account', 'show', 'ann'])).code, 0);
    const damaged = await cli.run(['restore', '-', '--yes'], { stdin: 'no database' });
    assert.deepEqual([damaged.code, damaged.stdout], [1, '']);
  });
});

describe('help', () => {
  it('is short, has examples, and goes to stdout', async (t) => {
    const cli = await commandLine(t);
    for (const args of [
      ['--help'],
      ['serve', '--help'],
      ['account', 'add', '--help'],
      ['account', 'import', '--help'],
      ['help'],
      ['help', 'account', 'add'],
    ]) {
      const { code, stdout, stderr } = await cli.run(args);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /Usage: pulsegate/);
      assert.match(stdout, /--config <file>/);
    }
    assert.match((await cli.run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
  });
});
