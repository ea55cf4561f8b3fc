// Every command that speaks /api/v1 answers the same with a running daemon and without one, and prints the JSON of its operation.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import { main } from '../../src/cli.js';
import { unknownFields } from '../../src/http/api/serve.js';
import { routes } from '../../src/http/v1/routes.js';
import { type Result, runCommand } from '../helpers/command.js';
import { PROJECT, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { assertSigned, type Received, startReceiver } from '../helpers/event-receiver.js';
import { suiteScope } from '../helpers/suite.js';

const config = {
  socks: { publicHost: 'play.example.com', publicPort: 1080 },
  admin: { playerPage: { enabled: true } },
  // A check would show the proxy of an exit as dead, by the daemon alone.
  egress: { exitChecks: { interval: '0s' } },
  agents: { echo: { type: 'command', command: ['sh', '-c', 'cat > /dev/null; echo hello'] } },
};

/** The answer of an operation, or the name of its field that the command prints. */
type Printed = readonly [operationId: string, field?: string];

/** The commands in the order in which both run them (`''` is an empty argument), what they read, and the operation whose JSON they print. */
const COMMANDS: readonly (readonly [args: string, printed?: Printed | undefined, stdin?: string])[] = [
  ['account add ann --password-stdin --remarks hi --tag vip --json', undefined, 'secret'],
  ['account add ann --password-stdin', undefined, 'secret'],
  ['account add bob --password-stdin --plan none', undefined, 'secret'],
  ['account add bob --password-stdin --allowed-clients 300.1.1.1', undefined, 'secret'],
  ['account add bob --password-stdin --expires 2030-01-01 --schedule never', undefined, 'secret'],
  ['account add bob --password-stdin --expires 2030-01-01', undefined, 'secret'],
  ['account list'],
  ['account list --search vip --json', ['listAccounts', 'items']],
  ['account list --tag vip --tag new'],
  ['account show ann'],
  ['account show ann --json', ['getAccount']],
  ['account show ghost'],
  ["account show ''"],
  ['account show tags --json'],
  ['account remove export --yes'],
  ['account rename bob ann'],
  ['account rename bob ben --json', ['changeAccount']],
  ['account update ann --email a@example.com --untag vip --tag new --json', ['changeAccount']],
  ['account update ann --email nobody'],
  ['account suspend ann --reason unpaid --json', ['changeAccounts']],
  ['account resume ann --json', ['changeAccounts']],
  ['account update ann --authorize 203.0.113.7 --json', ['changeAccount']],
  ['account update ann --authorize 203.0.113.8 --tag second'],
  ['account list --tag new --tag second'],
  ['account update ann --password-stdin --remarks hello', undefined, 'secret'],
  ['account limits set ann --max-sessions 4 --json', ['changeAccountLimits']],
  ['account limits set ann --egress-class gone'],
  ['account limits show ann'],
  ['account limits show ann --json', ['getAccountLimits']],
  ['account limits reset-usage ann --yes'],
  ['account link ann --password-stdin', undefined, 'secret'],
  ['account link ann --password-stdin', undefined, 'wrong'],
  ['account subscription show ann --json', ['getSubscription']],
  ['account subscription create ann --json', ['createSubscription']],
  ['account subscription show ann'],
  ['account subscription revoke ann --yes'],
  ['account subscription revoke ann --yes'],
  ['plan set month --days 30 --quota 50GiB'],
  ['plan set month --max-sessions 2'],
  ['plan set month --days forever --exit none'],
  ['plan set month --days 30'],
  ['exit add up --upstream socks5://192.0.2.1:1080 --mark 7 --json', ['addExit']],
  ['exit set up --mark 0 --interface none --family none --json', ['changeExit']],
  ['exit list'],
  ['exit list --json', ['listExits', 'items']],
  ['exit test gone'],
  ['exit remove up --yes'],
  ['plan list'],
  ['plan list --json', ['getPlans', 'plans']],
  ['account add cat --password-stdin --plan month --expires never', undefined, 'secret'],
  ['account renew ann'],
  ['account renew ann ben --plan month --dry-run'],
  ['account renew ann --plan month --yes'],
  ['account upgrade ann --plan month --yes'],
  ['account upgrade ann --plan gone --yes'],
  ['account show ann --json', ['getAccount']],
  ['plan remove month --yes'],
  ['plan remove month --yes'],
  ['account export --format json'],
  ['account export --tag new --with-hashes'],
  ['account import - --dry-run', undefined, 'username,password\ndan,x\n'],
  ['account import - --json', ['importAccounts'], 'username,password\ndan,x\n'],
  ['account link dan --password-stdin', undefined, 'x'],
  ['account remove ben ghost --yes'],
  ['account remove ben cat --yes'],
  ['operator add kim --role seller --accounts 3 --password-stdin --json', ['createOperator'], 'good enough'],
  ['operator add kim --role viewer --password-stdin', undefined, 'good enough'],
  ['operator add a:b --role viewer --password-stdin', undefined, 'good enough'],
  ['operator add lee --role viewer --password-stdin', undefined, 'short'],
  ['operator list'],
  ['operator list --json', ['listOperators', 'items']],
  ['operator update kim --disable --days none --json', ['changeOperator']],
  ['operator second-factor-off kim'],
  ['operator remove kim --yes'],
  ['operator remove kim --yes'],
  ['token create one --scope audit:read accounts:read --json', ['createToken']],
  ['token list'],
  ['token list --json', ['listTokens', 'items']],
  ['token revoke one --yes'],
  ['token revoke one --yes'],
  ['whitelist set 10.0.*,nonsense'],
  ['whitelist set 10.0.*,127.0.0.1'],
  ['whitelist show --json', ['getWhitelist']],
  ['whitelist check 10.0.0.1 --json'],
  ['whitelist check 1.2.3.4'],
  ['event-receiver list'],
  ['event-receiver add ftp://shop.example/events --type account.created'],
  ['event-receiver add https://shop.example/events --type account.gone'],
  ['event-receiver add https://shop.example/events'],
  [
    'event-receiver add https://shop.example/events --type account.created account.removed --json',
    ['addEventReceiver'],
  ],
  ['event-receiver list --json', ['listEventReceivers', 'items']],
  ['event-receiver set 00000000-0000-4000-8000-000000000001'],
  ['event-receiver set 00000000-0000-4000-8000-000000000001 --disable'],
  ['event-receiver remove 00000000-0000-4000-8000-000000000001 --yes'],
  ['event-delivery list'],
  ['event-delivery list --state failed --json', ['listEventDeliveries', 'items']],
  ['event-delivery retry 00000000-0000-4000-8000-000000000001'],
  ['agent list'],
  ['agent list --json', ['listAgents', 'items']],
  ['agent send nobody hello'],
  ['run list'],
  ['run list --json', ['listRuns', 'items']],
  ['run show 01900000'],
  ['node drain nowhere'],
  ['node drain'],
  ['node undrain'],
  ['trace 198.51.100.7 --port 25 --at 2026-11-23T08:00:00+01:00'],
  ['trace 198.51.100.7 --at 2026-11-23T08:00:00Z --json', ['trace']],
  ['trace --at 2026-11-23T08:00:00Z'],
  ['trace 198.51.100.300 --at 2026-11-23T08:00:00Z'],
  ['trace a.example --at 2026-11-23T08:00:00'],
  ['trace a.example --at 2026-11-23T08:00:00Z --tolerance 13h'],
  ['trace a.example --at 2026-11-23T08:00:00Z --port 0'],
  ['trace a.example --at 2026-11-23T08:00:00Z --outgoing here'],
  ['traffic --since 2026-11-24 --until 2026-11-24'],
  ['traffic --since 2026-11-24 --until 2026-11-23'],
  ['traffic --by exit --sort label --json', ['getTrafficReport', 'items']],
  ['audit --account ann'],
  ["audit --account ''"],
  ['audit --account tags'],
  ['audit --search kim --json', ['listAudit', 'items']],
];

/** They work on the database or the machine itself. */
const DIRECT = /^(serve|restart|admin .*|config .*|doctor|backup|restore|database copy|completion|help)$/;
/** They need a daemon, or show what only a daemon knows. */
const OF_DAEMON = ['session list', 'session end', 'node list', 'event-receiver test'];
/** Their JSON is not the answer of one operation, or is checked below, of a run that has ended. */
const NOT_IN_TABLE = [
  'account add',
  'account link',
  'whitelist check',
  'exit test',
  'agent send',
  'run show',
  'event-receiver set',
];

describe('commands with a running daemon and without one', () => {
  const scope = suiteScope();
  let running: TestDaemon;
  let stopped: TestDaemon;
  before(async () => {
    [running, stopped] = await Promise.all([
      startTestDaemon(scope, { config }),
      startTestDaemon(scope, { config }),
    ]);
    stopped.signal('SIGTERM');
    await stopped.exited();
  });
  const run = (daemon: TestDaemon, args: string, stdin = '') =>
    runCommand(
      PROJECT,
      [...args.split(' ').map((arg) => (arg === "''" ? '' : arg)), '--config', daemon.configFile],
      { stdin },
    );

  for (const [args, printed, stdin] of COMMANDS) {
    it(args, async () => {
      const [asked, direct] = [await run(running, args, stdin), await run(stopped, args, stdin)];
      assert.deepEqual(comparable(asked), comparable(direct));
      assert.doesNotMatch(asked.stderr, /refused the request|Unexpected error/);
      if (printed) for (const result of [asked, direct]) assertPrinted(result, printed);
    });
  }

  it('has every command, and the JSON of every one that prints it', async () => {
    const isInTable = (name: string, flag = '') =>
      COMMANDS.some(
        ([args, printed]) =>
          `${args} `.startsWith(`${name} `) && (flag === '' || (args.includes(flag) && printed)),
      );
    const commands = (await commandsBelow([])).filter(
      (name) => !DIRECT.test(name) && !OF_DAEMON.includes(name),
    );
    assert.ok(commands.length > 40, String(commands));
    assert.deepEqual(
      commands.filter((name) => !isInTable(name)),
      [],
    );
    const withJson: string[] = [];
    for (const name of commands)
      if ((await completions([...name.split(' '), '--j'])).includes('--json')) withJson.push(name);
    assert.ok(withJson.length > 20, String(withJson));
    assert.deepEqual(
      withJson.filter((name) => !isInTable(name, '--json') && !NOT_IN_TABLE.includes(name)),
      [],
    );
  });

  it('event-receiver changes, tests and removes a receiver, and event-delivery sends again', async (t) => {
    const receiver = await startReceiver(t);
    const withPassword = await run(
      running,
      'event-receiver add http://me:word@127.0.0.1/ --type account.created',
    );
    assert.match(withPassword.stderr, /^url: must be an http.* URL without a user name or password in it/);
    const added = await run(running, `event-receiver add ${receiver.url} --type account.created --json`);
    const { id, secret } = added.json() as { id: string; secret: string };
    assert.match(secret, /^whsec_/);
    assert.match((await run(running, `event-receiver test ${id}`)).stdout, /^Delivered: HTTP 204\.\n$/);
    assertSigned((await receiver.waitFor('test'))[0] as Received, secret);
    const renewed = await run(running, `event-receiver set ${id} --type account.removed --new-secret --json`);
    assertPrinted(renewed, ['changeEventReceiver']);
    assert.notEqual((renewed.json() as { secret: string }).secret, secret);
    // Its types need not be named again.
    const off = (await run(running, `event-receiver set ${id} --disable --json`)).json();
    assert.deepEqual(off, { ...(renewed.json() as object), isEnabled: false, secret: null });
    assert.equal((await run(running, `event-receiver set ${id} --enable`)).code, 0);
    const items = (await run(running, `event-delivery list --receiver ${id} --json`)).json() as {
      id: string;
      type: string;
    }[];
    assert.deepEqual(
      items.map(({ type }) => type),
      ['test'],
    );
    assert.equal((await run(running, `event-delivery retry ${items[0]?.id}`)).code, 0);
    await receiver.waitFor('test', 2);
    assert.match((await run(running, 'event-receiver list')).stdout, /account\.removed/);
    assert.equal((await run(running, `event-receiver remove ${id} --yes`)).code, 0);
    const gone = await run(running, `event-receiver test ${id}`);
    assert.match(gone.stderr, /No such receiver/);
  });

  it('account update keeps what two commands add at once', async () => {
    for (const daemon of [running, stopped]) {
      const tags = ['one', 'two', 'three'];
      await Promise.all(tags.map((tag) => run(daemon, `account update ann --tag ${tag}`)));
      const shown = (await run(daemon, 'account show ann --json')).json() as { tags: string[] };
      assert.deepEqual(
        tags.filter((tag) => !shown.tags.includes(tag)),
        [],
      );
    }
  });

  it('agent send queues a run, which the daemon executes', async () => {
    const sent = (await run(running, 'agent send echo hello --wait --json')).json() as Record<
      string,
      unknown
    >;
    assert.deepEqual([sent['status'], sent['origin'], sent['reply']], ['succeeded', 'cli', 'hello']);
    assert.match((await run(stopped, 'agent send echo hello')).stdout, /^Queued as /);
    for (const daemon of [running, stopped]) {
      assertPrinted(await run(daemon, 'run list --json'), ['listRuns', 'items']);
      assertPrinted(await run(daemon, 'node list --json'), ['listNodes', 'items']);
    }
    assertPrinted(await run(running, 'session list --json'), ['listSessions', 'items']);
    assertPrinted(await run(running, `run show ${String(sent['id'])} --json`), ['getRun']);
    assertPrinted(await run(stopped, 'agent send echo hello --json'), ['sendMessage']);
  });

  it('a command that needs the daemon names the file with its token, when that is wrong or missing', async () => {
    const file = join(running.dataDir, 'control-token');
    const refused = `The daemon of ${running.dataDir} has refused the command: the token in ${file} `;
    for (const args of ['restart', 'session list']) {
      await writeFile(file, 'another');
      const wrong = await run(running, args);
      assert.deepEqual([wrong.code, wrong.stderr.startsWith(`${refused}is not that of `)], [1, true]);
      await rm(file);
      const missing = await run(running, args);
      assert.deepEqual(
        [missing.code, missing.stderr.startsWith(`${refused}cannot be read (ENOENT).`)],
        [1, true],
      );
    }
  });
});

/** What the shell would complete the last of these words to. */
async function completions(words: readonly string[]): Promise<string[]> {
  const stdout = new PassThrough();
  await main(['node', 'pulsegate', '__complete', '--', ...words], {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
    env: {},
  });
  stdout.end();
  return (await text(stdout)).split('\n').flatMap((line) => line.split('\t')[0] || []);
}

/** The commands of a group, or of the program, by their whole names. */
async function commandsBelow(group: readonly string[]): Promise<string[]> {
  const names = group.at(-1) === 'completion' ? [] : await completions([...group, '']);
  if (names.length === 0) return [group.join(' ')];
  return (await Promise.all(names.map((name) => commandsBelow([...group, name])))).flat();
}

/** Without what differs by nature: ids, times, secrets, ports. */
function comparable({ code, stdout, stderr }: Result) {
  const plain = (text: string) =>
    text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:[\d.]+Z?| UTC)/g, 'TIME')
      .replace(/pg_[\w-]+|whsec_[\w+/=]+/g, 'SECRET')
      .replace(/sub\/[\w-]{20,}/g, 'sub/SECRET')
      .replace(/[0-9a-f]{32,}/g, 'HASH')
      .replace(/(:|"port": |server .*:)\d{4,5}\b/g, '$1PORT');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

/** Asserts that the command printed what the document says of the operation. */
function assertPrinted(result: Result, [operationId, field]: Printed): void {
  assert.equal(result.code, 0, result.stderr);
  const route = routes.find((each) => each.operationId === operationId);
  const answer = route?.success[2];
  assert.ok(answer instanceof z.ZodObject, operationId);
  const schema = (field === undefined ? answer : answer.shape[field]) as z.ZodType;
  const { server: _, heartbeats: __, ...shown } = Object(result.json()) as Record<string, unknown>;
  const value = Array.isArray(result.json()) ? result.json() : shown;
  assert.deepEqual(unknownFields(operationId, schema, value), []);
  schema.parse(value);
}
