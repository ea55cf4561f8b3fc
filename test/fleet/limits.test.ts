// Limits of accounts hold over all nodes: sessions, client addresses, rates.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startFleet } from '../helpers/fleet.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

describe('limits over two nodes', async () => {
  const t = suiteScope();
  let one: TestDaemon;
  let two: TestDaemon;
  before(async () => {
    const { nodes } = await startFleet(t, ['gate-1', 'gate-2']);
    [one, two] = nodes as [TestDaemon, TestDaemon];
  });

  async function add(username: string, limits: Readonly<Record<string, number>>): Promise<string> {
    const id = await one.addAccount(username, 'word');
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${id}/limits`, limits)).status, 200);
    await eventually(async () => {
      const { limits: there } = (await two.api('GET', `/api/v1/accounts/${id}`)).json as {
        limits: Record<string, unknown>;
      };
      for (const [name, value] of Object.entries(limits)) assert.equal(there[name], value);
    });
    return id;
  }
  async function play(daemon: TestDaemon, username: string) {
    const target = await startTarget(t, echo);
    return connectThrough({ port: daemon.socks.port, username, password: 'word' }, '127.0.0.1', target.port);
  }
  /** Until the node knows how many sessions the account has in all. */
  const seen = (daemon: TestDaemon, id: string, sessions: number) =>
    eventually(async () => {
      const { usage } = (await daemon.api('GET', `/api/v1/accounts/${id}`)).json as {
        usage: { sessions: number };
      };
      assert.equal(usage.sessions, sessions);
    });

  test('sessions at one node leave fewer at the other, and are free again when they end', async () => {
    const id = await add('ann', { maxSessions: 2 });
    const [first, second] = [await play(one, 'ann'), await play(one, 'ann')];
    await seen(two, id, 2);
    await assert.rejects(play(two, 'ann'));
    first.destroy();
    await seen(two, id, 1);
    const third = await play(two, 'ann');
    await seen(one, id, 2);
    await assert.rejects(play(one, 'ann'));
    second.destroy();
    third.destroy();
  });

  test('sessions of a node that is lost are free with its lease', async () => {
    const id = await add('bob', { maxSessions: 1 });
    const held = await play(one, 'bob');
    await seen(two, id, 1);
    one.signal('SIGSTOP');
    await eventually(async () => {
      (await play(two, 'bob')).destroy();
    });
    one.signal('SIGCONT');
    held.destroy();
  });
});
