// "Who was it?": an abuse report names a destination, a port and a time, and the daemon names the account.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { keptDataDir, PROJECT, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../helpers/udp-client.js';

interface Item {
  readonly account: { readonly id: string; readonly username: string };
  readonly client: string;
  readonly outgoing: { readonly address: string | null; readonly port: number } | null;
  readonly destination: { readonly host: string; readonly address: string; readonly port: number };
  readonly protocol: string;
  readonly session: string;
  readonly node: string;
  readonly exit: string | null;
  readonly startedAt: string;
  readonly connectMs: number | null;
  readonly endedAt: string | null;
  readonly isLive: boolean;
  readonly bytesUp: number | null;
  readonly bytesDown: number | null;
}
interface Answer {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  readonly incomplete: readonly { readonly reason: string; readonly count?: number }[];
}

async function trace(daemon: TestDaemon, query: Readonly<Record<string, string | number>>): Promise<Answer> {
  const text = new URLSearchParams({ at: new Date().toISOString() });
  for (const [name, value] of Object.entries(query)) text.set(name, String(value));
  const answer = await daemon.api('GET', `/api/v1/trace?${text}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Answer;
}

/** What the heartbeat entries of an account say of its way out, by their kind: of those with equal kinds, the oldest. */
async function waysOf(daemon: TestDaemon, accountId: string): Promise<Readonly<Record<string, object>>> {
  const { json } = await daemon.api('GET', `/api/v1/heartbeats?accountId=${accountId}`);
  const entries = (json as { items: (Pick<Item, 'outgoing' | 'exit' | 'node' | 'connectMs'> & Entry)[] })
    .items;
  return Object.fromEntries(
    entries.map(({ kind, address, outgoing, exit, node, connectMs }) => [
      kind,
      { address, outgoing, exit, node, connectMs },
    ]),
  );
}
interface Entry {
  readonly kind: string;
  readonly address: string | null;
}

describe('a trace', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;
  let dataDir = '';

  before(async () => {
    dataDir = await keptDataDir(scope);
    target = await startTarget(scope, echo);
    daemon = await startTestDaemon(scope, { dataDir, config: { trace: { destinationsPerAssociation: 2 } } });
  });
  const account = (username: string) => ({ port: daemon.socks.port, username, password: 'secret' });

  it('finds a session while it runs, after it has ended, and after its account was removed', async () => {
    const id = await daemon.addAccount('alice', 'secret');
    const client = await connectThrough(account('alice'), '127.0.0.1', target.port);
    const { remotePort = 0 } = await target.nextConnection();
    client.send('twelve bytes');
    await client.read(12);
    const question = { destination: '127.0.0.1', port: target.port };
    const live = await eventually(async () => {
      const [found, ...others] = (await trace(daemon, question)).items;
      assert.deepEqual([found?.bytesDown, others], [12, []]);
      return found;
    });
    assert.deepEqual([live?.isLive, live?.endedAt], [true, null]);
    const { startedAt, session, node, connectMs, ...rest } = live as Item;
    assert.ok(Math.abs(Date.parse(startedAt) - Date.now()) < 60_000 && node !== '');
    assert.ok(connectMs !== null && connectMs >= 0);
    assert.deepEqual(rest, {
      account: { id, username: 'alice' },
      client: '127.0.0.1',
      clientOrigin: null,
      outgoing: { address: '127.0.0.1', port: remotePort },
      destination: { host: '127.0.0.1', address: '127.0.0.1', port: target.port },
      protocol: 'tcp',
      exit: null,
      endedAt: null,
      isLive: true,
      bytesUp: 12,
      bytesDown: 12,
    });
    client.destroy();
    const ended = await eventually(async () => {
      const [found] = (await trace(daemon, question)).items;
      assert.ok(found?.endedAt);
      return found;
    });
    assert.deepEqual([ended.session, ended.bytesUp, ended.isLive], [session, 12, false]);
    assert.deepEqual((await waysOf(daemon, id))['close'], {
      address: '127.0.0.1',
      outgoing: { address: '127.0.0.1', port: remotePort },
      exit: null,
      node,
      connectMs,
    });
    await daemon.api('DELETE', `/api/v1/accounts/${id}`);
    for (const query of [
      { outgoingPort: remotePort },
      { outgoingPort: remotePort, outgoing: '127.0.0.1' },
      { destination: '127.0.0.0/8', port: target.port, tolerance: '12h' },
    ])
      assert.equal((await trace(daemon, query)).items[0]?.account.username, 'alice', JSON.stringify(query));
    for (const query of [
      { ...question, outgoing: '127.0.0.2' },
      { ...question, outgoingPort: remotePort - 1 },
      { ...question, port: target.port - 1 },
      { ...question, at: new Date(Date.now() - 3_600_000).toISOString() },
      { destination: 'other.test' },
    ])
      assert.deepEqual((await trace(daemon, query)).items, [], JSON.stringify(query));
    const at = ['--at', new Date().toISOString(), '--config', daemon.configFile];
    const printed = await runCommand(PROJECT, ['trace', '127.0.0.1', '--port', String(target.port), ...at]);
    assert.match(
      printed.stdout,
      new RegExp(`alice +127\\.0\\.0\\.1 +127\\.0\\.0\\.1:${target.port} +127\\.0\\.0\\.1:${remotePort} `),
    );
    // A report tells the second.
    assert.match(
      printed.stdout,
      / \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC +(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|live) /,
    );
    assert.match(printed.stderr, /^Incomplete: the range begins before the oldest record \d{4}-/m);
    const mail = [
      `Date: ${new Date().toISOString()}`,
      `Source: 127.0.0.1 Source-Port: ${remotePort}`,
      `Target: 127.0.0.1 Target-Port: ${target.port}`,
    ].join('\n');
    const file = join(dataDir, 'report.txt');
    await writeFile(file, mail);
    for (const [name, stdin] of [
      [file, ''],
      ['-', mail],
    ] as const) {
      const args = ['trace', '--report', name, '--config', daemon.configFile];
      const answered = await runCommand(PROJECT, args, { stdin });
      assert.match(answered.stdout, /^alice /m, answered.stderr);
      assert.match(
        answered.stderr,
        new RegExp(`^Searching: destination 127.0.0.1, port ${target.port}, `, 'm'),
      );
    }
    const past = await trace(daemon, { ...question, at: '2020-01-01T08:00:00+08:00' });
    assert.deepEqual(
      past.incomplete.map(({ reason }) => reason),
      ['before-records'],
    );
  });

  it('finds each destination of an association, and says when there were more', async (t) => {
    await daemon.addAccount('gamer', 'secret');
    const [one, two, three] = [await startUdpEcho(t), await startUdpEcho(t), await startUdpEcho(t)];
    const client = await associateThrough(t, account('gamer'));
    await client.roundTrip('127.0.0.1', one.port, 'one');
    await client.roundTrip(Buffer.from('localhost'), two.port, 'two');
    const { port } = (await two.receive()).from;
    const byPort = await eventually(async () => {
      const { items } = await trace(daemon, { destination: '127.0.0.1', port: two.port });
      assert.equal(items.length, 1);
      return items[0];
    });
    assert.deepEqual(byPort?.outgoing, { address: null, port });
    assert.deepEqual(byPort?.destination, { host: 'localhost', address: '127.0.0.1', port: two.port });
    const byName = await trace(daemon, {
      destination: 'LOCALHOST.',
      outgoingPort: port,
      outgoing: '192.0.2.1',
    });
    assert.equal(byName.items[0]?.account.username, 'gamer', 'the address of UDP is not known');
    const both = await trace(daemon, { destination: '127.0.0.1', outgoingPort: port });
    assert.deepEqual(both.items.map((each) => each.destination.port).sort(), [one.port, two.port].sort());
    assert.deepEqual(
      both.incomplete.filter(({ reason }) => reason !== 'before-records'),
      [],
    );
    await client.roundTrip('127.0.0.1', three.port, 'three');
    client.control.destroy();
    await eventually(async () => {
      const { items, incomplete } = await trace(daemon, { destination: '127.0.0.1', port: three.port });
      assert.deepEqual(items, []);
      assert.ok(
        incomplete.some(({ reason, count }) => reason === 'destinations-beyond-limit' && count === 1),
      );
    });
  });

  it('tells the way out of UDP beside heartbeat entries too', async (t) => {
    const id = await daemon.addAccount('pinger', 'secret');
    const server = await startUdpEcho(t);
    const client = await associateThrough(t, account('pinger'));
    await client.roundTrip(Buffer.from('localhost'), server.port, 'ping');
    const { port } = (await server.receive()).from;
    client.control.destroy();
    const [way, node] = await eventually(async () => {
      const [found] = (await trace(daemon, { destination: '127.0.0.1', port: server.port })).items;
      const { close } = await waysOf(daemon, id);
      assert.ok(found && close);
      return [close, found.node];
    });
    assert.deepEqual(way, {
      address: '127.0.0.1',
      outgoing: { address: null, port },
      exit: null,
      node,
      connectMs: null,
    });
  });

  it('says what a report leaves open, and searches when it is given', async () => {
    const unclear =
      'Nov 19 03:21:41 CST attack from 192.0.2.1 port 4 to 198.51.100.7:25 and to 198.51.100.8:25';
    const run = (...args: string[]) =>
      runCommand(PROJECT, ['trace', '--report', '-', ...args, '--config', daemon.configFile], {
        stdin: unclear,
      });
    const open = await run();
    assert.equal(open.code, 2);
    for (const found of [
      '192.0.2.1 port 4 (outgoing)',
      '198.51.100.8 port 25 (destination)',
      'give --at with its zone',
    ])
      assert.ok(open.stderr.includes(found), open.stderr);
    const given = await run('198.51.100.8', '--at', '2030-11-19T03:21:41+08:00');
    assert.match(
      given.stderr,
      /^Searching: destination 198.51.100.8, port 25, outgoing 192.0.2.1, outgoingPort 4, /m,
    );
    assert.equal(given.code, 0);
    assert.match(given.stderr, /^Incomplete: the time is in the future; check the date and the zone$/m);
    const missing = await runCommand(PROJECT, [
      'trace',
      '--report',
      'none.txt',
      '--config',
      daemon.configFile,
    ]);
    assert.deepEqual([missing.code, missing.stderr], [1, 'Cannot read none.txt: ENOENT.\n']);
    assert.equal((await runCommand(PROJECT, ['trace', 'a.example', '--config', daemon.configFile])).code, 2);
  });

  it('is paged, audited with its question, and refuses what it cannot read', async () => {
    await daemon.addAccount('many', 'secret');
    const own = await startTarget(scope, echo);
    for (let i = 0; i < 3; i += 1) (await connectThrough(account('many'), '127.0.0.1', own.port)).destroy();
    const query = { destination: '127.0.0.1', port: own.port, limit: 2, at: new Date().toISOString() };
    const first = await eventually(async () => {
      const page = await trace(daemon, query);
      assert.ok(page.nextCursor !== null);
      return page;
    });
    const next = await trace(daemon, { ...query, cursor: first.nextCursor ?? '' });
    assert.equal(new Set([...first.items, ...next.items].map(({ session }) => session)).size, 3);
    assert.equal(next.nextCursor, null);
    const audit = (await daemon.api('GET', '/api/v1/audit?action=trace.search')).json as {
      items: { after: unknown; object: { name: string } }[];
    };
    const { limit: _, ...asked } = { ...query, tolerance: '5m' };
    assert.deepEqual([audit.items[0]?.after, audit.items[0]?.object.name], [asked, '127.0.0.1']);
    for (const wrong of [
      '',
      'destination=198.51.100.300',
      'destination=a%20b',
      'destination=a&tolerance=13h',
      'destination=a&tolerance=5',
      'destination=a&port=0',
      'destination=a&port=65536',
      'destination=a&outgoing=name',
      'destination=a&cursor=x',
    ]) {
      const answer = await daemon.api('GET', `/api/v1/trace?at=2031-01-01T00:00:00Z&${wrong}`);
      assert.equal(answer.status, 400, `${wrong}: ${answer.text}`);
    }
    const zoneless = await daemon.api('GET', '/api/v1/trace?destination=a&at=2031-01-01T00:00:00');
    assert.match(zoneless.text, /"status":400.*"query.at".*is not of the form \S+Z, \S+\+08:00/);
  });

  it('finds a session that a kill -9 has cut off, and nothing is recorded with a retention of 0', async () => {
    const own = await startTarget(scope, echo);
    const question = { destination: '127.0.0.1', port: own.port };
    await daemon.addAccount('cut', 'secret');
    const client = await connectThrough(account('cut'), '127.0.0.1', own.port);
    assert.equal((await trace(daemon, question)).items.length, 1);
    daemon.signal('SIGKILL');
    await daemon.exited();
    client.destroy();
    const startedAt = Date.now();
    daemon = await startTestDaemon(scope, { dataDir });
    const [found] = (await trace(daemon, question)).items;
    assert.deepEqual([found?.account.username, found?.isLive, found?.bytesUp], ['cut', false, null]);
    assert.ok(Date.parse(found?.endedAt ?? '') >= startedAt);

    const days = (await daemon.api('GET', '/api/v1/settings/retention')).json as object;
    await daemon.api('PUT', '/api/v1/settings/retention', { ...days, sessionDays: 0 });
    (await connectThrough(account('cut'), '127.0.0.1', own.port)).destroy();
    await daemon.waitForLine(({ msg }) => msg === 'session ended');
    const { items, incomplete } = await trace(daemon, question);
    assert.ok(items.length < 2 && incomplete.some(({ reason }) => reason === 'not-recorded'));
    const id = found?.account.id ?? '';
    await eventually(async () => {
      const { close } = await waysOf(daemon, id);
      const unknown = { address: null, outgoing: null, exit: null, node: null, connectMs: null };
      assert.deepEqual(close, unknown);
    });
  });
});
