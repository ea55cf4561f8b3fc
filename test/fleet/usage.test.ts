// The usage of an account at one node counts at every other: traffic against the quota, heartbeat entries, the last login.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, openSession, startFleet } from '../helpers/fleet.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

interface Usage {
  readonly periodBytes: number;
  readonly totalBytesUp: number;
  readonly totalBytesDown: number;
}

describe('usage over two nodes', async () => {
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

  async function add(username: string, limits = {}): Promise<string> {
    const id = await one.addAccount(username, 'word');
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${id}/limits`, limits)).status, 200);
    await eventually(() => two.account(username));
    return id;
  }
  const usageAt = async (daemon: TestDaemon, id: string) =>
    ((await daemon.api('GET', `/api/v1/accounts/${id}`)).json as { usage: Usage }).usage;

  test('each node counts the traffic of both once', async () => {
    const id = await add('ann');
    const clients = [await openSession(one, 'ann', targetPort), await openSession(two, 'ann', targetPort)];
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
    const late = await fleet.start('gate-3');
    for (const node of [one, two, late]) {
      await eventually(async () => {
        const { periodBytes, totalBytesUp, totalBytesDown } = await usageAt(node, id);
        assert.deepEqual([periodBytes, totalBytesUp, totalBytesDown], [24_000, 12_000, 12_000]);
      });
    }
    for (const client of clients) client.destroy();
  });

  test('a quota used up at one node ends the sessions at both; a reset permits new ones at both', async () => {
    const id = await add('bob', { quotaBytes: 10_000 });
    const idle = await openSession(two, 'bob', targetPort);
    const busy = await openSession(one, 'bob', targetPort);
    busy.send(Buffer.alloc(6_000));
    await idle.closed();
    await busy.closed();
    for (const node of [one, two]) await assert.rejects(openSession(node, 'bob', targetPort));
    assert.equal((await two.api('POST', `/api/v1/accounts/${id}/usage/reset`)).status, 200);
    for (const node of [one, two]) {
      await eventually(async () => {
        (await openSession(node, 'bob', targetPort)).destroy();
      });
    }
  });

  test('the number of entries and the last login are the same at both', async () => {
    await add('eve');
    (await openSession(one, 'eve', targetPort)).destroy();
    await eventually(async () => Number((await one.account('eve'))['DataCount']) > 0);
    await eventually(async () => {
      const [accountAtOne, accountAtTwo] = [await one.account('eve'), await two.account('eve')];
      assert.deepEqual(
        [accountAtTwo['DataCount'], accountAtTwo['LastLoginAt']],
        [accountAtOne['DataCount'], accountAtOne['LastLoginAt']],
      );
      assert.notEqual(accountAtOne['LastLoginAt'], null);
    });
  });
});
