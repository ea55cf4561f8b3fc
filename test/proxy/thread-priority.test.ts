// The nice values of the process's threads: those that serve players have priority.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, it } from 'node:test';
import { preparePriorities, yieldToPlayers } from '../../src/proxy/thread-priority.js';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough, greeting, login, RawClient } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';
import { BREAKABLE_THREAD, PASSWORD, startPlane } from './plane/plane-world.js';

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

const servesPlayers = ({ name }: Thread) => name.startsWith('players:');
const nicesOf = (some: readonly Thread[]) => [...new Set(some.map(({ nice }) => nice))];

describe('the priority of threads', { skip: process.platform !== 'linux' }, () => {
  const initial = getPriority();

  it('controlPlaneNice is added to all threads except those that serve players, and restarts in place do not add up', async (t) => {
    const daemon = await startTestDaemon(t, { config: { controlPlaneNice: 5, socks: { workers: 1 } } });
    const all = threads(daemon.pid);
    const players = all.filter(servesPlayers);
    assert.deepEqual(
      players.map(({ name }) => name),
      ['players:0'],
    );
    assert.deepEqual(nicesOf(players), [initial]);
    const others = all.filter((thread) => !servesPlayers(thread));
    assert.ok(others.length >= 5, JSON.stringify(all));
    const lowered = Math.min(19, initial + 5);
    assert.deepEqual(nicesOf(others), [lowered]);

    await daemon.addAccount('player', PASSWORD);
    const target = await startTarget(t, echo);
    const { port } = daemon.socks;
    await connectThrough({ port, username: 'player', password: PASSWORD }, 'localhost', target.port);
    assert.ok(threads(daemon.pid).some(({ name }) => name === 'players:dns'));

    for (let i = 0; i < 2; i += 1)
      assert.equal((await runCommand(daemon.dataDir, ['restart', '--config', daemon.configFile])).code, 0);
    const after = threads(daemon.pid);
    const isRefused = daemon.lines.some(
      ({ msg }) => msg === 'restarted worker cannot take back its priority; set LimitNICE=+0',
    );
    assert.deepEqual(nicesOf(after.filter(servesPlayers)), [isRefused ? lowered : initial]);
    assert.deepEqual(nicesOf(after.filter((thread) => !servesPlayers(thread))), [lowered]);
  });

  it('with controlPlaneNice 0 no thread has a name or another priority', async (t) => {
    const daemon = await startTestDaemon(t, { config: { controlPlaneNice: 0 } });
    const all = threads(daemon.pid);
    assert.deepEqual(all.filter(servesPlayers), []);
    assert.deepEqual(nicesOf(all), [initial]);
  });

  // This test is the last one, because this process cannot regain the priority that it gives up.
  it('a restarted worker regains its priority, or logs that it cannot', async (t) => {
    preparePriorities();
    const world = await startPlane(t, ['player', 'throw'], { threadUrl: BREAKABLE_THREAD });
    assert.ok(yieldToPlayers(1));
    const client = await RawClient.connect(world.port);
    client.send(Buffer.concat([greeting(2), login('throw', PASSWORD)]));
    await client.closed();
    const isLogged = (message: string) => world.lines.some((line) => line.message === message);
    await eventually(() => isLogged('proxy worker restarted'));
    const [nice] = nicesOf(threads('self').filter(({ name }) => name === 'players:0'));
    if (isLogged('restarted worker cannot take back its priority; set LimitNICE=+0'))
      assert.equal(nice, initial + 1);
    else assert.equal(nice, initial);
  });
});
