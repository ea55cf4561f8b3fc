// Hundreds of clients that only wait or never read must not affect others. No test measures time: the idle clients stay until
// the test closes them, so a client that had to wait for them would wait until its time limit.
// Only by name: npm run scale
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { eventually } from '../helpers/eventually.js';
import { startNameServer } from '../helpers/name-server.js';
import { needs } from '../helpers/programs.js';
import { scaled } from '../helpers/scale.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, hold, startTarget } from '../helpers/targets.js';

/** Number of idle clients of one kind. */
const CROWD = scaled(300);
/** Longer than any test, so that an unfinished handshake is not closed. */
const FOR_EVER = '1h';

interface Crowd {
  /** Sockets that the daemon has not closed. */
  open(): number;
  close(): void;
}

/** Opens `count` connections from `source` that send `bytes` and then only wait. The end of the test closes them. */
async function startCrowd(
  t: Scope,
  port: number,
  count: number,
  bytes: Buffer,
  source = '127.0.0.1',
): Promise<Crowd> {
  const sockets = new Set<Socket>();
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(close);
  const settled = Array.from({ length: count }, async () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: source });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
    socket.write(bytes);
    await new Promise<void>((resolve) => {
      socket.once('connect', () => resolve());
      socket.once('close', () => resolve());
    });
  });
  await Promise.all(settled);
  return { open: () => sockets.size, close };
}

/** Resolves once a player has logged in. */
async function logIn(daemon: TestDaemon): Promise<void> {
  const client = await loggedInClient({ port: daemon.socks.port, username: 'player', password: 'secret' });
  client.destroy();
}

function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('idle clients', () => {
  const scope = suiteScope();
  let withoutLimit: TestDaemon;
  let withLimit: TestDaemon;
  before(async () => {
    [withoutLimit, withLimit] = (await Promise.all(
      [FOR_EVER, '1s'].map((handshakeTimeout) =>
        startTestDaemon(scope, { config: { socks: { handshakeTimeout } } }),
      ),
    )) as [TestDaemon, TestDaemon];
    await withoutLimit.addAccount('player', 'secret');
    await withLimit.addAccount('player', 'secret');
  });
  for (const [where, bytes] of [
    ['before their first byte', Buffer.alloc(0)],
    ['in their greeting', greeting(0, 1, 2).subarray(0, 3)],
    ['in their login', Buffer.concat([greeting(2), login('player', 'secret').subarray(0, 6)])],
    ['before their request', Buffer.concat([greeting(2), login('player', 'secret')])],
  ] as const) {
    it(`do not delay a login when ${CROWD} of them wait ${where}`, async (t) => {
      await logIn(withoutLimit);
      const held = openDescriptors(withoutLimit.pid);
      const crowd = await startCrowd(t, withoutLimit.socks.port, CROWD, bytes);
      await logIn(withoutLimit);
      assert.ok(crowd.open() > 0, 'the idle clients were closed before the login');
      crowd.close();
      await descriptorsBackTo(withoutLimit.pid, held);
    });

    it(`are closed when they wait ${where} beyond the time limit`, async (t) => {
      const openUntilClosed = async (count: number) => {
        const crowd = await startCrowd(t, withLimit.socks.port, count, bytes);
        await eventually(() => assert.equal(crowd.open(), 0));
      };
      // The first client may make the daemon open descriptors that it keeps.
      await openUntilClosed(1);
      const held = openDescriptors(withLimit.pid);
      await openUntilClosed(30);
      await descriptorsBackTo(withLimit.pid, held);
    });
  }

  it('of one source have at most maxHandshakesPerSource connections, and are closed for clients of other sources', async (t) => {
    const daemon = await startTestDaemon(t, {
      config: { socks: { maxHandshakes: 200, maxHandshakesPerSource: 50, handshakeTimeout: FOR_EVER } },
    });
    await daemon.addAccount('player', 'secret');
    const first = await startCrowd(t, daemon.socks.port, 300, Buffer.alloc(0), '127.0.2.1');
    await eventually(() => assert.equal(first.open(), 50));
    await logIn(daemon);
    const others = await Promise.all(
      [2, 3, 4, 5].map((i) => startCrowd(t, daemon.socks.port, 50, Buffer.alloc(0), `127.0.2.${i}`)),
    );
    const open = (): number => [first, ...others].reduce((sum, crowd) => sum + crowd.open(), 0);
    await eventually(() => assert.equal(open(), 200));
    await logIn(daemon);
    // Another worker may close the connection, shortly after the login.
    await eventually(() => assert.ok(open() < 200, 'the connection that has waited longest is closed'));
    const line = await daemon.waitForLine((each) => /handshake limit reached/.test(each.msg));
    assert.ok(Number(line['evicted']) > 0);
  });

  it('do not count as handshakes after a failed login', async (t) => {
    const socks = { workers: 1, maxConnections: 8, maxHandshakes: 4, login: { maxFailuresPerSource: 5 } };
    const daemon = await startTestDaemon(t, { config: { socks } });
    await daemon.addAccount('player', 'secret');
    // Each client has its reply, and keeps its side of the connection open.
    for (let at = 0; at < 40; at += 1) {
      const socket = connect({ port: daemon.socks.port, host: '127.0.0.1', allowHalfOpen: true });
      t.after(() => socket.destroy());
      const client = new RawClient(socket);
      client.send(Buffer.concat([greeting(2), login('player', 'wrong')]));
      assert.equal((await client.read(4)).toString('hex'), '05020101', `client ${at}`);
    }
    const { port } = daemon.socks;
    const player = await loggedInClient({ port, username: 'player', password: 'secret', from: '127.0.0.2' });
    player.destroy();
  });

  it('never cause a session to be closed', async (t) => {
    const daemon = await startTestDaemon(t, {
      config: { socks: { maxHandshakes: 20, maxHandshakesPerSource: 10 } },
    });
    await daemon.addAccount('player', 'secret');
    const target = await startTarget(t, echo);
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const client = await connectThrough(account, '127.0.0.1', target.port);
    await startCrowd(t, daemon.socks.port, 100, greeting(2));
    client.send('still here');
    assert.equal((await client.read(10)).toString(), 'still here');
    client.destroy();
  });
});

describe('1,000 connections to the admin port under 1,024 descriptors', () => {
  for (const [who, whitelist] of [
    ['in the whitelist', ''],
    ['outside the whitelist', '127.0.0.1'],
  ] as const) {
    it(`by a source ${who} prevent neither logins nor API requests`, async (t) => {
      const daemon = await startTestDaemon(t, { wrap: ['prlimit', '--nofile=1024'] });
      await daemon.addAccount('player', 'secret');
      const set = await daemon.api('PUT', '/api/v1/settings/whitelist', { whitelist });
      assert.equal(set.status, 200);
      await logIn(daemon);
      const crowd = await startCrowd(
        t,
        Number(new URL(daemon.adminUrl).port),
        1000,
        Buffer.alloc(0),
        '127.0.3.1',
      );
      await eventually(() => assert.ok(crowd.open() <= 51, `${crowd.open()} open`));
      await logIn(daemon);
      for (let i = 0; i < 20; i += 1) await logIn(daemon);
      assert.equal((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).status, 200);
      await daemon.waitForLine((line) => line.msg === 'too many admin connections');
    });
  }
});

describe(`${2 * CROWD} clients under a limit of 256 descriptors`, needs('prlimit'), () => {
  it('prevent no API request, end no session, and leave no descriptor open', async (t) => {
    const daemon = await startTestDaemon(t, {
      wrap: ['prlimit', '--nofile=256'],
      config: { socks: { handshakeTimeout: FOR_EVER } },
    });
    // An idle session of the account that wants more may make room for it.
    for (const name of ['player', 'greedy']) await daemon.addAccount(name, 'secret');
    const target = await startTarget(t, echo);
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const session = await connectThrough(account, '127.0.0.1', target.port);
    const held = openDescriptors(daemon.pid);
    const handshake = Buffer.concat([
      greeting(2),
      login('greedy', 'secret'),
      request('127.0.0.1', target.port),
    ]);
    const crowds = await Promise.all([
      startCrowd(t, daemon.socks.port, CROWD, Buffer.alloc(0)),
      startCrowd(t, daemon.socks.port, CROWD, handshake),
    ]);
    for (let i = 0; i < 10; i += 1) {
      const answer = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
      assert.equal(answer.status, 200);
    }
    session.send('still here');
    assert.equal((await session.read(10)).toString(), 'still here');
    for (const crowd of crowds) crowd.close();
    await descriptorsBackTo(daemon.pid, held + 2);
    await logIn(daemon);
    // Which limit is reached first depends on the order of the clients.
    await daemon.waitForLine(
      ({ msg }) => msg === 'connection limit reached' || msg.startsWith('handshake limit reached'),
    );
  });
});

describe('a daemon without a descriptor left', needs('prlimit'), () => {
  it('refuses a request for a public address, and ends no session', async (t) => {
    const target = await startTarget(t, echo);
    const config = { egress: { private: 'deny', allow: [`127.0.0.1:${target.port}`] } };
    const daemon = await startTestDaemon(t, { config });
    await daemon.addAccount('player', 'secret');
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const session = await connectThrough(account, '127.0.0.1', target.port);
    const client = await loggedInClient(account);
    execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile=8']);
    client.send(request('203.0.113.1', 80));
    assert.notEqual((await readReply(client)).code, 0);
    session.send('still here');
    assert.equal((await session.read(10)).toString(), 'still here');
  });
});

describe('clients that never read', () => {
  const CLIENTS = scaled(100);
  it(`need bounded memory, and do not affect others: ${CLIENTS} sessions with full buffers`, async (t) => {
    // The limits of handshakes are raised, because the test is about sessions.
    const daemon = await startTestDaemon(t, {
      config: { socks: { maxHandshakesPerSource: 2 * CLIENTS, handshakeTimeout: '5m' } },
    });
    await daemon.addAccount('player', 'secret');
    // Sends without end, as fast as the client reads.
    const chunk = Buffer.alloc(64 * 1024);
    const flood = await startTarget(t, (socket) => {
      const push = (): void => {
        while (!socket.destroyed && socket.write(chunk));
        socket.once('drain', push);
      };
      push();
    });
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const handshake = Buffer.concat([
      greeting(2),
      login('player', 'secret'),
      request('127.0.0.1', flood.port),
    ]);
    const before = residentMiB(daemon.pid);
    const sockets: Socket[] = [];
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let i = 0; i < CLIENTS; i += 1) {
      const socket = connect({ port: daemon.socks.port, host: '127.0.0.1' });
      socket.pause();
      socket.on('error', () => {});
      socket.write(handshake);
      sockets.push(socket);
      if (i % 50 === 49) await pause(20);
    }
    await eventually(() => assert.equal(flood.accepted(), CLIENTS), 90_000);
    await pause(1_000);
    const grown = residentMiB(daemon.pid) - before;
    t.diagnostic(`${grown.toFixed(0)} MiB for ${CLIENTS} sessions with full buffers`);
    // 300 KiB for each session, and the memory of a busy worker: up to 35 MiB with the node engine.
    assert.ok(grown < 40 + CLIENTS * 0.3, `${grown.toFixed(0)} MiB`);
    const target = await startTarget(t, echo);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    client.send('ping');
    assert.equal((await client.read(4)).toString(), 'ping');
    client.destroy();
  });
});

describe('slow names of one account', () => {
  it('do not delay the names of other accounts', async (t) => {
    const names = await startNameServer(t, (name) => (name.startsWith('slow') ? 'silence' : ['127.0.0.1']));
    const daemon = await startTestDaemon(t, {
      config: { dns: { servers: [names.address], timeout: '1m' } },
    });
    for (const name of ['greedy', 'player']) await daemon.addAccount(name, 'secret');
    const target = await startTarget(t, hold);
    const port = daemon.socks.port;
    const crowd = await startCrowd(
      t,
      port,
      300,
      Buffer.concat([greeting(2), login('greedy', 'secret'), request('slow.test', 80)]),
    );
    // The first of them waits for its name before others take what the account may look up at a time.
    await eventually(() => assert.ok(names.questions.includes('A slow.test')));
    for (let i = 0; i < 200; i += 1) {
      const bytes = [greeting(2), login('greedy', 'secret'), request(`slow-${i}.test`, 80)];
      await startCrowd(t, port, 1, Buffer.concat(bytes));
    }
    for (let i = 0; i < 6; i += 1) {
      const client = await connectThrough(
        { port, username: 'player', password: 'secret' },
        `fast-${i}.test`,
        target.port,
      );
      client.destroy();
    }
    assert.ok(crowd.open() > 0, 'the slow names had timed out before');
  });
});
