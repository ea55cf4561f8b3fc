// After `settle`, the control plane has processed all earlier events of players, however far behind it was.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough, loggedInClient } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';
import { PASSWORD, type PlaneWorld, SETTINGS, startPlane } from './plane-world.js';
import type { Visits } from './visitor-thread.js';

const NAMES = ['ann', 'bob', 'cid', 'dora', 'eve', 'finn'];

/** A client's own time limit ends before. */
const MOST_BLOCKED_MS = 120_000;

const player = ({ port }: PlaneWorld, username: string, password = PASSWORD) => ({
  port,
  username,
  password,
});

describe('settle', { skip: process.platform !== 'linux' }, () => {
  it('returns at once when no event waits', async (t) => {
    const world = await startPlane(t, ['ann']);
    await eventually(() => world.plane.requests.settle() === undefined);
  });

  for (const [engine, workers] of [
    ['native', 1],
    ['native', 3],
    ['node', 1],
  ] as const) {
    it(`processes the events of all earlier replies to players (${engine}, ${workers} workers)`, async (t) => {
      const world = await startPlane(t, NAMES, { engine, workers });
      const target = await startTarget(t, echo);
      for (const [i, name] of NAMES.entries()) {
        const client = await connectThrough(player(world, name), '127.0.0.1', target.port);
        await assert.rejects(loggedInClient(player(world, name, 'wrong')));
        await world.plane.requests.settle();
        assert.deepEqual(
          [world.opened.length, world.logins],
          [i + 1, { success: i + 1, 'wrong-password': i + 1 }],
        );
        client.send('hello');
        await client.read(5);
        world.sessions.count();
        assert.deepEqual([world.opened[i]?.bytesUp, world.opened[i]?.bytesDown], [5, 5]);
      }
    });
  }

  it('loses no login and no end of a session after the control plane was blocked, and counts each dropped log line', async (t) => {
    const settings = {
      ...SETTINGS,
      login: { ...SETTINGS.login, maxFailuresPerSource: 1_000_000, maxFailuresPerUser: 1_000_000 },
    };
    const world = await startPlane(t, NAMES, { workers: 2, settings });
    const done = new Int32Array(new SharedArrayBuffer(8));
    const visits: Visits = {
      port: world.port,
      usernames: NAMES,
      password: PASSWORD,
      sessions: 400,
      wrongLogins: 1_600,
      atOnce: 20,
      done,
    };
    const visitor = new Worker(new URL('./visitor-thread.js', import.meta.url), { workerData: visits });
    t.after(() => visitor.terminate());
    const failed = once(visitor, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => undefined);
    // This thread is the control plane. It is blocked until all visits have ended.
    const waited = Atomics.wait(done, 0, 0, MOST_BLOCKED_MS);
    if (done[0] === 2) await failed;
    assert.equal(waited, 'ok', `${done[1]} visits ended`);
    await world.plane.requests.settle();
    assert.deepEqual(world.logins, { success: 400, 'wrong-password': 1_600 });
    // The last sessions may still be closing.
    await eventually(async () => {
      await world.plane.requests.settle();
      assert.deepEqual([world.opened.length, world.closed.length], [400, 400]);
    });
    const lines = world.lines.filter(({ message }) => message === 'login failed').length;
    const dropped = world.lines
      .filter(({ message }) => message.startsWith('log lines dropped'))
      .reduce((sum, { fields }) => sum + Number(fields['lines']), 0);
    assert.equal(lines + dropped, 1_600);
  });
});
