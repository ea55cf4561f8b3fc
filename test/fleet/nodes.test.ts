// Nodes: daemons on one database list one another, own their names, and can be drained one by one.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { connectPg } from '../../src/store/pg/connect.js';
import { commandLine } from '../helpers/command.js';
import { type LogLine, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, openSession, startFleet } from '../helpers/fleet.js';
import { RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

interface Node {
  readonly name: string;
  readonly state: string;
  readonly isThis: boolean;
  readonly sessions: number;
  readonly addresses: { readonly socks: readonly string[] };
  readonly databaseDelayMs: number | null;
  readonly renewedAt: string;
}

const nodesAt = async (daemon: TestDaemon): Promise<Node[]> =>
  ((await daemon.api('GET', '/api/v1/nodes')).json as { items: Node[] }).items;
const stateAt = async (daemon: TestDaemon, name: string) =>
  (await nodesAt(daemon)).find((node) => node.name === name)?.state;
const readyStatus = async ({ adminUrl }: TestDaemon) => (await fetch(`${adminUrl}/readyz`)).status;

/** Returns whether the daemon closes a new connection before it selects a method. */
async function isRefused({ socks }: TestDaemon): Promise<boolean> {
  const client = await RawClient.connect(socks.port);
  client.send(Buffer.from([5, 1, 2]));
  const greeted = await client.read(2).then(
    () => true,
    () => false,
  );
  client.destroy();
  return !greeted;
}

describe('two nodes', async () => {
  const t = suiteScope();
  let fleet: Fleet;
  let one: TestDaemon;
  let two: TestDaemon;
  before(async () => {
    fleet = await startFleet(t, ['gate-1', 'gate-2'], {}, '3s');
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
    await one.addAccount('ann', 'word');
  });

  test('each node lists both, with state, sessions and addresses', async () => {
    const target = await startTarget(t, echo);
    const client = await openSession(one, 'ann', target.port);
    // A busy node may be lost for a moment.
    await eventually(async () => {
      const nodes = await nodesAt(two);
      assert.deepEqual(
        nodes.map(({ name, state, isThis, sessions }) => [name, state, isThis, sessions]),
        [
          ['gate-1', 'serving', false, 1],
          ['gate-2', 'serving', true, 0],
        ],
      );
      assert.deepEqual(nodes[0]?.addresses.socks, [`127.0.0.1:${one.socks.port}`]);
    });
    await eventually(async () => Number((await nodesAt(two))[0]?.databaseDelayMs) > 0);
    client.destroy();
  });

  test('a daemon does not start under the name of another live node', async () => {
    await assert.rejects(
      fleet.start('gate-2'),
      /Another daemon on this database runs as the node \\?"gate-2/,
    );
  });

  test('a drained node answers 503 to the balancer, then refuses connections, and keeps its sessions', async () => {
    const target = await startTarget(t, echo);
    const client = await openSession(two, 'ann', target.port);
    const { run } = await commandLine(t, `database: { client: pg, connection: "${fleet.connection}" }\n`);
    assert.match((await run(['node', 'drain', 'gate-2'])).stdout, /^Draining gate-2: /);
    await eventually(async () => (await readyStatus(two)) === 503);
    for (const path of ['/readyz', '/readyz/players'])
      assert.equal(await (await fetch(two.adminUrl + path)).text(), 'not ready: drained\n', path);
    await eventually(() => isRefused(two));
    await eventually(async () => (await stateAt(one, 'gate-2')) === 'draining');
    client.send('still here');
    assert.equal((await client.read(10)).toString(), 'still here');
    client.destroy();
    await eventually(async () => (await stateAt(one, 'gate-2')) === 'drained');
    assert.equal(await readyStatus(one), 200);
    assert.match((await run(['node', 'list'])).stdout, /^gate-2 +drained/m);

    assert.equal((await one.api('POST', '/api/v1/nodes/gate-2/undrain')).status, 204);
    await eventually(async () => (await readyStatus(two)) === 200);
    await eventually(async () => !(await isRefused(two)));
    assert.equal((await one.api('POST', '/api/v1/nodes/gate-9/drain')).status, 404);
    assert.match((await run(['node', 'drain', 'gate-9'])).stderr, /No such node: "gate-9".*node list/);
  });

  test('a node of another version is logged once', async () => {
    const db = connectPg(fleet.connection, 1);
    t.after(() => db.destroy());
    const [row] = await db('nodes').where({ name: 'gate-2' });
    await db('nodes').insert({
      ...row,
      name: 'old',
      process: 'old',
      owner: 'old',
      version: '0.1.9',
      lease_until: Number(row.lease_until) + 3_600_000,
      // An older version reports less.
      load: '{}',
      addresses: '{}',
    });
    const old = (await nodesAt(two)).find(({ name }) => name === 'old');
    assert.deepEqual([old?.sessions, old?.addresses.socks], [0, []]);
    const isAboutOldVersion = (line: LogLine) => line['otherVersion'] === '0.1.9';
    for (const node of [one, two]) await node.waitForLine(isAboutOldVersion);
    const renewedAt = async () => Number((await db('nodes').where({ name: 'gate-1' }).first()).renewed_at);
    const before = await renewedAt();
    await eventually(async () => (await renewedAt()) > before);
    await db('nodes').where({ name: 'old' }).delete();
    assert.equal(one.lines.filter(isAboutOldVersion).length, 1);
  });

  test('refuse connections when another process has their name, until they have it again', async () => {
    const db = connectPg(fleet.connection, 1);
    t.after(() => db.destroy());
    const setNode = (values: object) => db('nodes').where({ name: 'gate-1' }).update(values);
    // gate-1 was frozen for longer than its lease, and a new machine got its name.
    await setNode({ process: 'other', owner: 'other', lease_until: Date.now() + 3_600_000 });
    await one.waitForLine(
      ({ msg }) => msg === 'node name in use by another daemon; refusing new connections',
    );
    assert.equal(await (await fetch(`${one.adminUrl}/readyz`)).text(), 'not ready: node-name-in-use\n');
    await eventually(() => isRefused(one));
    await setNode({ lease_until: 0 });
    await eventually(async () => (await readyStatus(one)) === 200);
    await eventually(async () => !(await isRefused(one)));
    await eventually(async () => (await stateAt(two, 'gate-1')) === 'serving');
  });

  test('a killed node is lost, a stopped one is stopped, and a restarted one gets its name back at once', async () => {
    const db = connectPg(fleet.connection, 1);
    t.after(() => db.destroy());
    const [row] = await db('nodes').where({ name: 'gate-2' });
    const gone = { name: 'gone', process: 'gone', owner: 'gone', renewed_at: 0, lease_until: 0 };
    await db('nodes').insert({ ...row, ...gone });
    await db('written_batches').insert({ process: 'gone', kind: 'traffic', number: 1, written_at: 0 });
    const third = await fleet.start('gate-3', { lease: '2s' });
    assert.equal(await stateAt(one, 'gone'), undefined, 'not seen for a week');
    assert.deepEqual(await db('written_batches').where({ process: 'gone' }), []);
    third.signal('SIGKILL');
    await third.exited();
    await eventually(async () => (await stateAt(one, 'gate-3')) === 'lost');
    const restarted = await fleet.start('gate-3', { lease: '5m' });
    restarted.signal('SIGKILL');
    await restarted.exited();
    // The lease is still valid, but only the same node can open the same data folder.
    const last = await fleet.start('gate-3', { dataDir: restarted.dataDir, lease: '5m' });
    assert.equal(await stateAt(one, 'gate-3'), 'serving');
    last.signal('SIGTERM');
    assert.equal(await last.exited(), 0);
    assert.equal(await stateAt(one, 'gate-3'), 'stopped');
  });
});

test('a daemon on SQLite is the only node, and stays drained over a restart', async (t) => {
  const first = await startTestDaemon(t, { config: { node: { name: 'alone', lease: '5m' } } });
  assert.equal((await first.api('POST', '/api/v1/nodes/alone/drain')).status, 204);
  assert.equal(await readyStatus(first), 503);
  assert.equal(await isRefused(first), false, 'the balancer needs time to notice');
  first.signal('SIGTERM');
  await first.exited();
  const config = { node: { name: 'alone', lease: '1s' } };
  const second = await startTestDaemon(t, { config, dataDir: first.dataDir });
  assert.equal(await isRefused(second), true);
  assert.equal(await readyStatus(second), 503);
  assert.equal((await second.api('POST', '/api/v1/nodes/alone/undrain')).status, 204);
  assert.equal(await isRefused(second), false);
  assert.deepEqual(
    (await nodesAt(second)).map(({ name, state }) => [name, state]),
    [['alone', 'serving']],
  );
});

test('a daemon on SQLite writes its load when it has changed, and is not lost between', async (t) => {
  const daemon = await startTestDaemon(t, { config: { node: { lease: '1s' } } });
  await daemon.addAccount('ann', 'word');
  const target = await startTarget(t, echo);
  const clients = [];
  for (const count of [1, 2]) {
    clients.push(await openSession(daemon, 'ann', target.port));
    await eventually(async () => assert.equal((await nodesAt(daemon))[0]?.sessions, count));
  }
  for (const client of clients) client.destroy();
  await eventually(async () => assert.equal((await nodesAt(daemon))[0]?.sessions, 0));
  // Then it is renewed by the lease alone, which is ten times as long.
  let renewedAt = Number.POSITIVE_INFINITY;
  await eventually(async () => {
    const [node] = await nodesAt(daemon);
    assert.equal(node?.state, 'serving');
    const before = renewedAt;
    renewedAt = Date.parse(node.renewedAt);
    return renewedAt - before > 2_000;
  });
});
