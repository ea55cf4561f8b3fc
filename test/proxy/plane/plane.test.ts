// Workers that die: their sessions end, their resources are freed, and a new worker serves the connections that wait.
// Alone: counts the descriptors of its process.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { loadLibc } from '../../../src/proxy/io/native/libc.js';
import { openListener } from '../../../src/proxy/io/native/listen.js';
import { workerOf } from '../../../src/proxy/memory/hash.js';
import { eventually } from '../../helpers/eventually.js';
import { startNameServer } from '../../helpers/name-server.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';
import {
  accountRecord,
  BREAKABLE_THREAD,
  PASSWORD,
  PLAIN,
  type PlaneWorld,
  type PlaneWorldOptions,
  RESOLVER,
  startPlane,
} from './plane-world.js';

/** Starts a data plane whose workers break at the login of some names (plane-thread.ts). */
const startBreakable = (t: TestContext, usernames: readonly string[], options: PlaneWorldOptions = {}) =>
  startPlane(t, usernames, { threadUrl: BREAKABLE_THREAD, ...options });

const player = (world: PlaneWorld, username = 'player') => ({
  port: world.port,
  username,
  password: PASSWORD,
});

/** Logs in with a name that breaks the worker. Resolves when the connection is closed. */
async function breakWorker(world: PlaneWorld, name: string): Promise<void> {
  const client = await RawClient.connect(world.port);
  client.send(Buffer.concat([greeting(2), login(name, PASSWORD)]));
  await client.closed();
}

const countOf = (world: PlaneWorld, message: RegExp) =>
  world.lines.filter((line) => message.test(line.message)).length;

/** Counts descriptors of the kinds that only the workers use. */
const descriptors = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /eventpoll|eventfd|socket|pipe/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;

const workerIndexOf = (username: string) => workerOf(Buffer.from(username), 3);

async function assertEchoes(client: RawClient): Promise<void> {
  client.send('hello');
  assert.equal((await client.read(5)).toString(), 'hello');
}

describe('a dead worker', { skip: process.platform !== 'linux' }, () => {
  for (const engine of ['native', 'node'] as const) {
    it(`that threw (${engine}) is replaced: its sessions end, and the error is logged`, async (t) => {
      const world = await startBreakable(t, ['player', 'throw'], { engine });
      const target = await startTarget(t, echo);
      const client = await connectThrough(player(world), '127.0.0.1', target.port);
      await assertEchoes(client);
      await breakWorker(world, 'throw');
      await client.closed();
      await eventually(() => countOf(world, /^proxy worker restarted$/) === 1);
      const [ended] = world.closed;
      assert.deepEqual(
        [ended?.summary.end, ended?.summary.bytesUp, ended?.summary.bytesDown],
        ['relay-failed', 5, 5],
      );
      const failed = world.lines.find(({ message }) => message === 'proxy worker failed');
      const err = failed?.fields['err'] as Error | undefined;
      assert.match(String(err?.stack), /broken on purpose[\s\S]*plane-thread/);
      await eventually(async () => {
        const next = await connectThrough(player(world), '127.0.0.1', target.port);
        await assertEchoes(next);
        next.destroy();
      });
    });
  }

  it('leaves no descriptor open (native), and a connection from before the restart is served', async (t) => {
    const world = await startBreakable(t, ['player', 'exit']);
    const target = await startTarget(t, echo);
    const before = descriptors();
    const clients = await Promise.all(
      Array.from({ length: 20 }, () => connectThrough(player(world), '127.0.0.1', target.port)),
    );
    await world.plane.requests.settle();
    assert.equal(world.opened.length, 20);
    const breaking = breakWorker(world, 'exit');
    for (const client of clients) await client.closed();
    // The worker is dead, so this connection waits in the backlog of the listening socket.
    const next = await connectThrough(player(world), '127.0.0.1', target.port);
    await assertEchoes(next);
    next.destroy();
    await breaking;
    assert.equal(world.closed.filter(({ summary }) => summary.end === 'relay-failed').length, 20);
    await eventually(() => assert.equal(descriptors(), before));
  });

  it('has each descriptor closed once, because another worker may reuse its number', async (t) => {
    const libc = loadLibc();
    const closed: { fd: number; result: number }[] = [];
    const close = (fd: number): number => {
      const result = libc.close(fd);
      closed.push({ fd, result });
      return result;
    };
    const world = await startBreakable(t, ['player', 'exit'], { libc: { ...libc, close } });
    const target = await startTarget(t, echo);
    const client = await connectThrough(player(world), '127.0.0.1', target.port);
    await breakWorker(world, 'exit');
    await client.closed();
    await eventually(() => countOf(world, /^proxy worker restarted$/) === 1);
    assert.ok(closed.length >= 5, `${closed.length} closed`);
    assert.deepEqual(
      closed.filter(({ result }) => result !== 0),
      [],
    );
  });

  it('with a stuck loop is detected and terminated; requests to it are answered', async (t) => {
    const world = await startBreakable(t, ['player', 'hang'], { stuckMs: 4_000 });
    const target = await startTarget(t, echo);
    const client = await connectThrough(player(world), '127.0.0.1', target.port);
    // Unsent events are lost with the worker, so the session must be reported first.
    await world.plane.requests.settle();
    assert.deepEqual([world.plane.isAlive, world.opened.length], [true, 1]);
    const breaking = breakWorker(world, 'hang');
    await eventually(() => !world.plane.isAlive);
    const found = world.plane.requests.findOutbound('127.0.0.1', 1);
    await Promise.all([breaking, client.closed()]);
    assert.deepEqual(await found, []);
    assert.equal(countOf(world, /does not respond/), 1);
    const next = await connectThrough(player(world), '127.0.0.1', target.port);
    await assertEchoes(next);
    await world.plane.requests.settle();
    assert.deepEqual([world.opened.length, world.closed.length], [2, 1]);
    await eventually(() => world.plane.isAlive);
    assert.deepEqual(world.failures, []);
  });

  it('that cannot be terminated is reported as a reason to restart the daemon', async (t) => {
    const world = await startBreakable(t, ['block'], { stuckMs: 2_000 });
    await breakWorker(world, 'block');
    assert.deepEqual(world.failures, [{ hasStuckThread: true }]);
    assert.equal(countOf(world, /cannot be terminated/), 1);
  });

  it('that closed the only descriptor of a socket from systemd is reported as a reason to restart the daemon', async (t) => {
    const libc = loadLibc();
    const listener = openListener(libc, { address: '127.0.0.1', port: 0 });
    assert.ok('fd' in listener);
    const world = await startBreakable(t, ['exit'], { engine: 'node', libc: null });
    const { port } = listener.local;
    const inherited = { fd: listener.fd, host: '127.0.0.1', port, ...PLAIN };
    assert.ok('port' in (await world.plane.listeners.listen(inherited)));
    await breakWorker({ ...world, port }, 'exit');
    await eventually(() => assert.deepEqual(world.failures, [{ hasStuckThread: false }]));
  });

  it('that died three times within a minute is replaced by the node engine on the same socket', async (t) => {
    const world = await startBreakable(t, ['player', 'exit']);
    const target = await startTarget(t, echo);
    for (let death = 1; death <= 3; death += 1) {
      assert.equal(world.plane.engines.node, 0);
      await breakWorker(world, 'exit');
      await eventually(() => countOf(world, /^proxy worker restarted$/) === death);
    }
    assert.equal(world.plane.engines.node, 1);
    assert.equal(countOf(world, /restarting with the node engine/), 1);
    const client = await connectThrough(player(world), '127.0.0.1', target.port);
    await assertEchoes(client);
    // The worker had a duplicate of the listening socket, so the socket is still open for the next one.
    await breakWorker(world, 'exit');
    const next = await connectThrough(player(world), '127.0.0.1', target.port);
    await assertEchoes(next);
    await world.plane.stop();
    await next.closed();
  });

  it('whose port another program has got meanwhile is tried again until it listens (node)', async (t) => {
    const threads: Worker[] = [];
    const note = (thread: Worker) => void threads.push(thread);
    process.on('worker', note);
    t.after(() => void process.removeListener('worker', note));
    const world = await startBreakable(t, ['player', 'exit'], { engine: 'node' });
    const target = await startTarget(t, echo);
    const other = createServer((socket) => socket.destroy());
    t.after(() => other.close());
    threads[0]?.once('exit', () => other.listen(world.port, '127.0.0.1'));
    await breakWorker(world, 'exit');
    await eventually(() => !world.plane.listeners.areOpen);
    assert.deepEqual(
      world.lines.filter(({ level }) => level === 'error').map(({ fields, message }) => [message, fields]),
      [['restarted thread cannot listen; will retry', { thread: 'proxy worker', code: 'EADDRINUSE' }]],
    );
    other.close();
    await eventually(() => world.plane.listeners.areOpen);
    assert.equal(countOf(world, /^restarted thread listens again$/), 1);
    await assertEchoes(await connectThrough(player(world), '127.0.0.1', target.port));
  });

  it('is replaced without an effect on the players of other workers', async (t) => {
    const names = Array.from({ length: 12 }, (_, i) => `player${i}`);
    const breaker =
      ['exit', 'exit1', 'exit2', 'exit3', 'exit4'].find((name) => workerIndexOf(name) === 0) ?? '';
    const world = await startBreakable(t, [...names, breaker], { workers: 3 });
    const target = await startTarget(t, echo);
    const connect = (username: string) => connectThrough(player(world, username), '127.0.0.1', target.port);
    for (let death = 1; death <= 3; death += 1) {
      const clients = await Promise.all(names.map(connect));
      await breakWorker(world, breaker);
      for (const [i, client] of clients.entries()) {
        if (workerIndexOf(names[i] ?? '') === 0) await client.closed();
        else await assertEchoes(client);
        client.destroy();
      }
      await eventually(() => countOf(world, /^proxy worker restarted$/) === death);
    }
    assert.equal(countOf(world, /restarting with the node engine/), 1);
    for (const client of await Promise.all(names.map(connect))) await assertEchoes(client);
  });

  it('dies with all others three times, and one native worker still accepts for them', async (t) => {
    const threads: Worker[] = [];
    const note = (thread: Worker) => void threads.push(thread);
    process.on('worker', note);
    t.after(() => void process.removeListener('worker', note));
    const names = Array.from({ length: 6 }, (_, i) => `player${i}`);
    const world = await startPlane(t, names, { workers: 3 });
    const target = await startTarget(t, echo);
    for (let death = 1; death <= 3; death += 1) {
      for (const thread of threads.splice(0)) void thread.terminate();
      // A message wakes each loop.
      world.plane.tell({ kind: 'refuse', isRefusing: false });
      // The main thread is busy until all have ended, so that it notices all deaths at once.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      await eventually(() => assert.equal(countOf(world, /^proxy worker restarted$/), 3 * death));
    }
    assert.deepEqual(world.plane.engines, { native: 1, node: 2 });
    for (const name of names) {
      const client = await connectThrough(player(world, name), '127.0.0.1', target.port);
      await assertEchoes(client);
      client.destroy();
    }
  });

  it('closes the connection that is being passed to it, and leaves no descriptor open', async (t) => {
    const names = ['exit', 'exit1', 'exit2', 'exit3', 'a', 'b', 'c', 'd', 'e'];
    const owned = names.filter((name) => workerOf(Buffer.from(name), 2) === 0);
    const breaker = owned.find((name) => name.startsWith('exit')) ?? '';
    const username = owned.find((name) => !name.startsWith('exit')) ?? '';
    const threadUrl = new URL('./passing-thread.js', import.meta.url);
    const world = await startPlane(t, [breaker, username], { workers: 2, threadUrl });
    const target = await startTarget(t, echo);
    const before = descriptors();
    await breakWorker(world, breaker);
    // The worker of this account may be dead still: then the connection is closed.
    const late = await RawClient.connect(world.port);
    late.send(Buffer.concat([greeting(2), login(username, PASSWORD)]));
    await late.read(4).catch(() => late.closed());
    late.destroy();
    await eventually(() => countOf(world, /^proxy worker restarted$/) === 1);
    await eventually(() => assert.equal(descriptors(), before));
    const client = await connectThrough(player(world, username), '127.0.0.1', target.port);
    await assertEchoes(client);
  });

  it('leaves its accounts what is left of their quotas', async (t) => {
    const accounts = ['player', 'exit'].map((name) => ({ ...accountRecord(name), quotaLeft: 10_000 }));
    const world = await startBreakable(t, [], { accounts });
    const target = await startTarget(t, echo);
    const first = await connectThrough(player(world), '127.0.0.1', target.port);
    first.send(Buffer.alloc(3_000));
    await first.read(3_000);
    // Unsent events are lost with the worker.
    await world.plane.requests.settle();
    await breakWorker(world, 'exit');
    await first.closed();
    const second = await connectThrough(player(world), '127.0.0.1', target.port);
    second.send(Buffer.alloc(3_000));
    assert.equal((await second.readToEnd()).length, 1_000);
    await eventually(() => assert.equal(world.closed.at(-1)?.summary.end, 'over-quota'));
  });

  it('does not delay the stop of the data plane', async (t) => {
    const world = await startBreakable(t, ['exit']);
    await breakWorker(world, 'exit');
    await world.plane.stop();
    await world.plane.requests.settle();
  });
});

describe("a dead resolver's thread", { skip: process.platform !== 'linux' }, () => {
  it('is replaced, and the lookups that wait for it end', async (t) => {
    const names = await startNameServer(t, (name, family) => {
      if (name === 'silent.test') return 'silence';
      return family === 4 ? ['127.0.0.1'] : [];
    });
    const threads: Worker[] = [];
    const note = (thread: Worker) => void threads.push(thread);
    process.on('worker', note);
    t.after(() => void process.removeListener('worker', note));
    const resolver = { ...RESOLVER, servers: [names.address], timeoutMs: 600_000 };
    const world = await startPlane(t, ['player'], { resolver });
    const target = await startTarget(t, echo);
    const waiting = await loggedInClient(player(world));
    waiting.send(request('silent.test', target.port));
    await eventually(() => names.questions.length > 0);
    // The first question has started the resolver's thread, after the workers.
    await threads.at(-1)?.terminate();
    assert.equal((await readReply(waiting)).code, 4);
    await waiting.closed();
    const client = await connectThrough(player(world), 'echo.test', target.port);
    await assertEchoes(client);
    await world.plane.requests.settle();
    assert.equal(world.sessions.size, 1);
  });

  it('that fails at every start refuses names, and connections to addresses are served', async (t) => {
    const resolver = { ...RESOLVER, servers: ['not an address'] };
    const world = await startPlane(t, ['player'], { resolver });
    const target = await startTarget(t, echo);
    const ask = async (): Promise<void> => {
      const waiting = await loggedInClient(player(world));
      waiting.send(request('echo.test', target.port));
      assert.equal((await readReply(waiting)).code, 4);
    };
    await ask();
    await eventually(() => countOf(world, /^resolver thread failed; restarting$/) >= 4);
    await assertEchoes(await connectThrough(player(world), '127.0.0.1', target.port));
    await ask();
  });
});
