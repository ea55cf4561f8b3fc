// The limits and the usage of an account hold over all nodes: sessions and client addresses, exactly, also when many log in at once or
// a node dies; traffic and quota, heartbeat entries, the last login.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { connectPg } from '../../src/store/pg/connect.js';
import { runCommand } from '../helpers/command.js';
import type { TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, openSession, startFleet } from '../helpers/fleet.js';
import {
  connectThrough,
  loggedInClient,
  type RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

const UDP_ASSOCIATE = 3;

interface Usage {
  readonly periodBytes: number;
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
}

describe('limits and usage over two nodes', async () => {
  const t = suiteScope();
  let fleet: Fleet;
  let one: TestDaemon;
  let two: TestDaemon;
  let targetPort = 0;
  before(async () => {
    fleet = await startFleet(t, ['gate-1', 'gate-2']);
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
    targetPort = (await startTarget(t, echo)).port;
  });

  async function limit(id: string, limits: Readonly<Record<string, number>>): Promise<void> {
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${id}/limits`, limits)).status, 200);
    await eventually(async () => {
      const answer = await two.api('GET', `/api/v1/accounts/${id}`);
      assert.equal(answer.status, 200);
      const { limits: limitsAtTwo } = answer.json as { limits: Record<string, unknown> };
      for (const [name, value] of Object.entries(limits)) assert.equal(limitsAtTwo[name], value);
    });
  }
  async function add(username: string, limits: Readonly<Record<string, number>> = {}): Promise<string> {
    const id = await one.addAccount(username, 'word');
    await limit(id, limits);
    return id;
  }
  const usageAt = async (daemon: TestDaemon, id: string) =>
    ((await daemon.api('GET', `/api/v1/accounts/${id}`)).json as { usage: Usage }).usage;

  /** Logs in sixty times at once, at both nodes in turn. Returns the admitted clients with their source addresses. */
  async function logInSixtyTimes(username: string, fromOf: (n: number) => string) {
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, async (_, n) => {
        const from = fromOf(n);
        return { from, client: await openSession(n % 2 === 0 ? one : two, username, targetPort, from) };
      }),
    );
    for (const answer of answers) {
      if (answer.status === 'rejected') assert.match(String(answer.reason), /answered 2$/);
    }
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }

  test('simultaneous logins open exactly maxSessions sessions, and again when these have ended', async () => {
    await add('ann', { maxSessions: 3 });
    const db = connectPg(fleet.connection, 1);
    t.after(() => db.destroy());
    for (let round = 0; round < 3; round += 1) {
      const players = await logInSixtyTimes('ann', () => '127.0.0.1');
      assert.equal(players.length, 3);
      for (const { client } of players) client.destroy();
      await eventually(async () => {
        const client = await openSession(round % 2 === 0 ? two : one, 'ann', targetPort);
        client.destroy();
      });
      // Every session has ended once the whole limit is free.
      const next: RawClient[] = [];
      await eventually(async () => {
        while (next.length < 3) next.push(await openSession(one, 'ann', targetPort));
      });
      for (const client of next) client.destroy();
      await eventually(async () => assert.deepEqual(await db('session_permits'), []));
    }
  });

  test('devices that log in at both nodes at once have at most maxClientAddresses addresses (3x-ui #4943)', async () => {
    await add('bob', { maxClientAddresses: 2 });
    const players = await logInSixtyTimes('bob', (n) => `127.0.0.${1 + (n % 10)}`);
    const addresses = new Set(players.map(({ from }) => from));
    assert.equal(addresses.size, 2);
    for (const from of addresses) (await openSession(one, 'bob', targetPort, from)).destroy();
    for (const { client } of players) client.destroy();
  });

  test('the login of an account without limits waits for no query', async () => {
    await one.addAccount('gil', 'word');
    await add('hal', { maxSessions: 1 });
    await eventually(() => two.account('gil'));
    const db = connectPg(fleet.connection, 2);
    t.after(() => db.destroy());
    const lock = await db.transaction();
    await lock.raw('lock table accounts, account_limits, session_permits in access exclusive mode');
    const limited = openSession(two, 'hal', targetPort);
    await eventually(async () => {
      const { rows } = await db.raw(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return rows.length > 0;
    });
    const free = await openSession(two, 'gil', targetPort);
    await lock.rollback();
    for (const client of [free, await limited]) client.destroy();
  });

  test('the nodes where an account is active share its rate', async () => {
    const rate = { bytesPerSecondDown: 200_000 };
    await add('ivy', rate);
    await add('jon', rate);
    const source = await startTarget(t, (socket) => {
      const push = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(10_000)));
        socket.once('drain', push);
      };
      socket.once('data', push);
    });
    const open = (node: TestDaemon, username: string) =>
      connectThrough({ port: node.socks.port, username, password: 'word' }, '127.0.0.1', source.port);
    const elsewhere = await open(two, 'ivy');
    const clients = [await open(one, 'ivy'), await open(one, 'jon')];
    await eventually(async () => {
      const { items } = (await one.api('GET', '/api/v1/accounts?search=ivy')).json as {
        items: { usage: { sessions: number } }[];
      };
      assert.equal(items[0]?.usage.sessions, 2);
    });
    const received = [0, 0];
    const isEnough = new Promise<void>((resolve) => {
      for (const [n, { socket }] of clients.entries()) {
        socket.removeAllListeners('data');
        socket.on('data', ({ length }: Buffer) => {
          received[n] = (received[n] ?? 0) + length;
          if ((received[1] ?? 0) >= 200_000) resolve();
        });
      }
    });
    for (const client of clients) client.send('go');
    await isEnough;
    const [shared = 0, whole = 0] = received;
    assert.ok(shared > 0 && shared < 0.75 * whole, `${shared} of ${whole}`);
    for (const client of [elsewhere, ...clients]) client.destroy();
  });

  test('a player whose only session has ended can log in at the other node', async () => {
    await add('carl', { maxSessions: 1 });
    let client = await openSession(one, 'carl', targetPort);
    await assert.rejects(openSession(two, 'carl', targetPort));
    client.destroy();
    await eventually(async () => {
      client = await openSession(two, 'carl', targetPort);
    });
    await assert.rejects(openSession(one, 'carl', targetPort));
    client.destroy();
  });

  test('a UDP association counts as a session, and so does a session that is older than the limit', async () => {
    const id = await one.addAccount('dora', 'word');
    await eventually(() => two.account('dora'));
    const early = await openSession(one, 'dora', targetPort);
    await limit(id, { maxSessions: 2 });
    const associate = async (daemon: TestDaemon) => {
      const client = await loggedInClient({ port: daemon.socks.port, username: 'dora', password: 'word' });
      client.send(request('0.0.0.0', 0, UDP_ASSOCIATE));
      return { client, code: (await readReply(client)).code };
    };
    const association = await associate(two);
    assert.equal(association.code, 0);
    await eventually(async () => {
      const { client, code } = await associate(two);
      client.destroy();
      assert.equal(code, 2);
    });
    early.destroy();
    await eventually(async () => {
      const { client, code } = await associate(one);
      client.destroy();
      assert.equal(code, 0);
    });
    association.client.destroy();
  });

  for (const before of [5, null]) {
    test(`lowering maxSessions from ${before ?? 'none'} to 2 ends exactly three of five sessions at two nodes`, async () => {
      const username = `fay-${before}`;
      const id = await one.addAccount(username, 'word');
      if (before !== null) await limit(id, { maxSessions: before });
      else await eventually(() => two.account(username));
      const open = new Set<RawClient>();
      for (const node of [one, two, one, two, one]) {
        const client = await openSession(node, username, targetPort);
        open.add(client);
        // `closed()` has a time limit, which the sessions that stay open could exceed on a busy machine.
        for (const event of ['end', 'close']) client.socket.once(event, () => open.delete(client));
      }
      await limit(id, { maxSessions: 2 });
      await eventually(() => open.size <= 2);
      // Once both nodes know this change, they have read all earlier ones.
      await limit(id, { maxSessions: 2, maxClientAddresses: 9 });
      for (const node of [one, two])
        await assert.rejects(openSession(node, username, targetPort), /answered 2$/);
      assert.equal(open.size, 2);
      for (const client of open) {
        client.send(Buffer.from('ping'));
        assert.equal((await client.read(4)).toString(), 'ping');
        client.destroy();
      }
    });
  }

  test('each node counts the traffic of both once', async () => {
    const id = await add('kim');
    const clients = [await openSession(one, 'kim', targetPort), await openSession(two, 'kim', targetPort)];
    for (const client of clients) {
      client.send(Buffer.alloc(1_000));
      await client.read(1_000);
    }
    for (const node of [one, two]) {
      await eventually(async () => (await usageAt(node, id)).periodBytes === 4_000);
    }
    // A change of the account makes the nodes read the sums again while more bytes arrive.
    for (let n = 0; n < 5; n += 1) {
      for (const client of clients) client.send(Buffer.alloc(1_000));
      await one.api('PATCH', `/api/v1/accounts/${id}`, { remarks: `change ${n}` });
      for (const client of clients) await client.read(1_000);
    }
    const late = await fleet.start('gate-late');
    for (const node of [one, two, late]) {
      await eventually(async () => {
        const { periodBytes, totalBytesUp, totalBytesDown } = await usageAt(node, id);
        assert.deepEqual([periodBytes, totalBytesUp, totalBytesDown], [24_000, 12_000, 12_000]);
      });
    }
    for (const client of clients) client.destroy();
  });

  test('a quota used up at one node ends the sessions at both; a reset permits new ones at both', async () => {
    const id = await add('lea', { quotaBytes: 10_000 });
    const idle = await openSession(two, 'lea', targetPort);
    const busy = await openSession(one, 'lea', targetPort);
    busy.send(Buffer.alloc(6_000));
    await idle.closed();
    await busy.closed();
    for (const node of [one, two]) await assert.rejects(openSession(node, 'lea', targetPort));
    assert.equal((await two.api('POST', `/api/v1/accounts/${id}/usage/reset`)).status, 200);
    for (const node of [one, two]) {
      await eventually(async () => {
        (await openSession(node, 'lea', targetPort)).destroy();
      });
    }
  });

  test('the number of entries and the last login are the same at both', async () => {
    await add('mia');
    (await openSession(one, 'mia', targetPort)).destroy();
    await eventually(async () => Number((await one.account('mia'))['DataCount']) > 0);
    await eventually(async () => {
      const [accountAtOne, accountAtTwo] = [await one.account('mia'), await two.account('mia')];
      assert.deepEqual(
        [accountAtTwo['DataCount'], accountAtTwo['LastLoginAt']],
        [accountAtOne['DataCount'], accountAtOne['LastLoginAt']],
      );
      assert.notEqual(accountAtOne['LastLoginAt'], null);
    });
  });

  const skip = process.env['TEST_ENGINE'] === 'node' && 'the node engine hands over its listeners alone';
  test('a node that is restarted keeps its sessions, which count as before', { skip }, async () => {
    await add('gus', { maxSessions: 2 });
    const open = [await openSession(one, 'gus', targetPort), await openSession(two, 'gus', targetPort)];
    const { code, stderr } = await runCommand(one.dataDir, ['restart', '--config', one.configFile]);
    assert.deepEqual([code, stderr], [0, '']);
    for (const client of open) {
      client.send(Buffer.from('ping'));
      assert.equal((await client.read(4)).toString(), 'ping');
    }
    for (const node of [one, two]) await assert.rejects(openSession(node, 'gus', targetPort), /answered 2$/);
    for (const client of open) client.destroy();
    await eventually(async () => {
      for (const node of [one, two]) (await openSession(node, 'gus', targetPort)).destroy();
    });
  });

  test('the sessions of a frozen or killed node stop counting when its lease is over (3x-ui #6113)', async () => {
    await add('eve', { maxSessions: 1 });
    const third = await fleet.start('gate-3', { lease: '5s' });
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      const held = await openSession(third, 'eve', targetPort);
      await assert.rejects(openSession(two, 'eve', targetPort));
      third.signal(signal);
      await eventually(async () => (await openSession(two, 'eve', targetPort)).destroy());
      if (signal === 'SIGSTOP') third.signal('SIGCONT');
      held.destroy();
      // The session admitted during the freeze has ended, too.
      if (signal === 'SIGSTOP')
        await eventually(async () => (await openSession(third, 'eve', targetPort)).destroy());
    }
  });
});
