// Players come first: which threads of the process have which nice value.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, it } from 'node:test';
import { yieldToPlayers } from '../../src/proxy/thread-priority.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { greeting, login, RawClient } from '../helpers/socks-client.js';
import { PASSWORD, startPlane } from './plane-world.js';

interface Thread {
  readonly name: string;
  readonly nice: number;
}

function threads(pid: number | 'self'): Thread[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
    try {
      const [start = '', rest = ''] = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8').split(') ');
      // proc_pid_stat(5): nice is the 19th field.
      return [{ name: start.split(' (')[1] ?? '', nice: Number(rest.split(' ')[16]) }];
    } catch {
      return [];
    }
  });
}

const isOfPlayers = ({ name }: Thread) => name.startsWith('players:');
const nicesOf = (some: readonly Thread[]) => [...new Set(some.map(({ nice }) => nice))];

describe('the priority of threads', { skip: process.platform !== 'linux' }, () => {
  const initial = getPriority();

  for (const controlPlaneNice of [5, 0]) {
    it(`controlPlaneNice: ${controlPlaneNice} is added for all threads but those of players`, async (t) => {
      const daemon = await startTestDaemon(t, { config: { controlPlaneNice, socks: { workers: 1 } } });
      const all = threads(daemon.pid);
      const players = all.filter(isOfPlayers);
      assert.deepEqual(players.map(({ name }) => name).sort(), ['players:0', 'players:dns']);
      assert.deepEqual(nicesOf(players), [initial]);
      const others = all.filter((thread) => !isOfPlayers(thread));
      assert.ok(others.length >= 5, JSON.stringify(all));
      assert.deepEqual(nicesOf(others), [Math.min(19, initial + controlPlaneNice)]);
    });
  }

  // It has to give up priority, which this process does not get back elsewhere: last in this file.
  it('a restarted worker takes the priority of players back, or says that it cannot', async (t) => {
    const world = await startPlane(t, ['player', 'throw']);
    assert.ok(yieldToPlayers(1));
    const client = await RawClient.connect(world.port);
    client.send(Buffer.concat([greeting(2), login('throw', PASSWORD)]));
    await client.closed();
    const said = (message: string) => world.lines.some((line) => line.message === message);
    await eventually(() => said('proxy worker restarted'));
    const [nice] = nicesOf(threads('self').filter(({ name }) => name === 'players:0'));
    if (said('restarted worker cannot take back its priority; set LimitNICE=+0'))
      assert.equal(nice, initial + 1);
    else assert.equal(nice, initial);
  });
});
