// The sessions of all nodes can be listed, counted, traced and ended at each.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { openStore } from '../../src/store/store.js';
import type { TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, openSession, startFleet } from '../helpers/fleet.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

interface Session {
  readonly id: string;
  readonly username: string;
  readonly node: string;
  readonly bytesUp: number;
  readonly client: { readonly port: number };
  readonly exit: string | null;
  readonly outgoing: { readonly address: string } | null;
}
interface Traced {
  readonly account: { readonly username: string };
  readonly node: string;
  readonly isLive: boolean;
  readonly endedAt: string | null;
  readonly bytesUp: number | null;
}
interface Page {
  readonly items: readonly Session[];
  readonly matched: number;
  readonly total: number;
}

const listAt = async (daemon: TestDaemon, query = '') =>
  (await daemon.api('GET', `/api/v1/sessions${query}`)).json as Page;
const getJson = async (daemon: TestDaemon, path: string) =>
  (await daemon.api('GET', path)).json as Record<string, unknown>;

describe('live sessions of two nodes', async () => {
  const t = suiteScope();
  let fleet: Fleet;
  let one: TestDaemon;
  let two: TestDaemon;
  let targetPort = 0;
  let annId = '';
  before(async () => {
    fleet = await startFleet(t, ['gate-1', 'gate-2']);
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
    targetPort = (await startTarget(t, echo)).port;
    annId = await one.addAccount('ann', 'word');
    const exit = { name: 'jp', addresses: ['127.0.0.7'] };
    assert.equal((await one.api('POST', '/api/v1/exits', exit)).status, 201);
    const bob = await one.addAccount('bob', 'word');
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${bob}`, { exit: 'jp' })).status, 200);
    await eventually(async () => {
      assert.equal((await getJson(two, '/api/v1/exits/jp'))['name'], 'jp');
      assert.equal((await getJson(two, `/api/v1/accounts/${bob}`))['exit'], 'jp');
    });
  });

  test('each node lists, filters, sorts and counts the sessions of both', async () => {
    const clients = [
      await openSession(one, 'ann', targetPort),
      await openSession(two, 'ann', targetPort),
      await openSession(two, 'bob', targetPort),
    ];
    for (const node of [one, two]) {
      await eventually(async () => {
        const { total, items } = await listAt(node);
        return total === 3 && items.length === 3;
      });
      const { items } = await listAt(node, '?sort=username');
      assert.deepEqual(
        items.map(({ username }) => username),
        ['ann', 'ann', 'bob'],
      );
      assert.deepEqual(items.map((each) => each.node).sort(), ['gate-1', 'gate-2', 'gate-2']);
      assert.deepEqual(
        items.map(({ exit, outgoing }) => [exit, outgoing?.address]),
        [
          [null, '127.0.0.1'],
          [null, '127.0.0.1'],
          ['jp', '127.0.0.7'],
        ],
      );
      assert.equal((await listAt(node, `?accountId=${annId}`)).matched, 2);
      assert.deepEqual(
        (await listAt(node, '?search=BOB')).items.map(({ node: at }) => at),
        ['gate-2'],
      );
      assert.equal(
        (await listAt(node, `?search=127.0.0.1:${targetPort}/tcp`)).matched,
        3,
        'also on other nodes',
      );
      assert.equal((await listAt(node, `?search=127.0.0.1:${targetPort}/udp`)).matched, 0);
      const overview = await getJson(node, '/api/v1/overview');
      assert.deepEqual([overview['sessions'], overview['playersOnline']], [3, 2]);
      const account = await getJson(node, `/api/v1/accounts/${annId}`);
      assert.equal((account['usage'] as { sessions: number }).sessions, 2);
      assert.equal((await getJson(node, '/api/v1/accounts?online=true'))['matched'], 2);
    }
    clients[2]?.send(Buffer.alloc(500));
    await eventually(async () => (await listAt(one, '?search=bob')).items[0]?.bytesUp === 500);
    for (const client of clients) client.destroy();
    for (const node of [one, two]) await eventually(async () => (await listAt(node)).total === 0);
  });

  test('a node ends sessions of the other, one by one and all of an account', async () => {
    const [first, second, third] = [
      await openSession(two, 'ann', targetPort),
      await openSession(two, 'ann', targetPort),
      await openSession(one, 'ann', targetPort),
    ];
    await eventually(async () => (await listAt(one)).total === 3);
    const { items } = await listAt(one);
    const chosen = items.find(({ client }) => client.port === first.socket.localPort);
    assert.equal((await one.api('DELETE', `/api/v1/sessions/${chosen?.id}`)).status, 204);
    await first.closed();
    // A session that is too new to be listed ends, too.
    const unlisted = await openSession(two, 'ann', targetPort);
    const ended = (await one.api('POST', '/api/v1/sessions/end', { accountId: annId })).json;
    assert.ok((ended as { ended: number }).ended >= 2);
    await Promise.all([second, third, unlisted].map((client) => client.closed()));
    for (const node of [one, two]) await eventually(async () => (await listAt(node)).total === 0);
    assert.equal((await one.api('DELETE', `/api/v1/sessions/${chosen?.id}`)).status, 404);
  });

  test('a trace at one node finds the sessions of the other, while they run and after they have ended', async () => {
    const own = await startTarget(t, echo);
    await one.addAccount('traced', 'word');
    const client = await openSession(one, 'traced', own.port);
    client.send('four');
    const foundAtTwo = async () => {
      const question = new URLSearchParams({ destination: '127.0.0.1', port: `${own.port}` });
      question.set('at', new Date().toISOString());
      const { items } = (await two.api('GET', `/api/v1/trace?${question}`)).json as { items: Traced[] };
      return items[0];
    };
    const found = await eventually(async () => {
      const item = await foundAtTwo();
      assert.ok(item?.isLive === true && item.bytesUp === 4);
      return item;
    });
    assert.deepEqual([found.account.username, found.node], ['traced', 'gate-1']);
    client.destroy();
    await eventually(async () => (await foundAtTwo())?.endedAt !== null);
    for (const node of [one, two]) await eventually(async () => (await listAt(node)).total === 0);
  });

  test('of a lost node are not listed, and of one that was only frozen they are listed again', async () => {
    const third = await fleet.start('gate-3', { lease: '1s' });
    await openSession(third, 'bob', targetPort);
    const areListed = (count: number) =>
      eventually(async () => (await listAt(one, '?search=bob')).matched === count);
    await areListed(1);
    third.signal('SIGSTOP');
    await areListed(0);
    await deleteRowsOfLostNodes();
    third.signal('SIGCONT');
    await areListed(1);
    third.signal('SIGKILL');
    await areListed(0);
  });

  /** As every node does once a minute. */
  async function deleteRowsOfLostNodes(): Promise<void> {
    const { connection } = fleet;
    const store = await openStore({ client: 'pg', dataDir: one.dataDir, connection, poolSize: 1 });
    await store.liveSessions?.trim();
    await store.close();
  }
});
