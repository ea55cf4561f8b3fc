// A data plane that hands its connections over to another one: nobody at their ends notices, and every byte is counted once.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { NO_LIMITS } from '../../../src/core/accounts/usage/limits.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import type { PlaneHandover } from '../../../src/proxy/handover/state.js';
import { readPlaneState } from '../../../src/proxy/handover/state.js';
import {
  allocateSessionCounts,
  SlotPool,
  viewSessionCounts,
} from '../../../src/proxy/memory/session-counts.js';
import type { PlaneOptions } from '../../../src/proxy/plane/plane.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';
import { connectHead, readHead } from '../../helpers/http-proxy-client.js';
import { startNameServer } from '../../helpers/name-server.js';
import { scaled } from '../../helpers/scale.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../../helpers/socks-client.js';
import type { Scope } from '../../helpers/suite.js';
import { echo, hold, startTarget } from '../../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../../helpers/udp-client.js';
import {
  accountRecord,
  PASSWORD,
  type PlaneWorld,
  type PlaneWorldOptions,
  RESOLVER,
  SETTINGS,
  startPlane,
} from './plane-world.js';

const NAMES = ['anna', 'bert', 'cleo', 'dora'];
const BIND = 2;
const player = ({ port }: PlaneWorld, username = 'anna') => ({ port, username, password: PASSWORD });

type Account = ReturnType<typeof accountRecord>;

const basicOf = (name: string) => `Proxy-Authorization: ${basic(name, PASSWORD)}\r\n`;

/** Written and read again, as by another process. */
function carried({ state, descriptors }: PlaneHandover): PlaneHandover {
  const read = readPlaneState(JSON.parse(JSON.stringify(state)));
  assert.ok(read.ok);
  return { state: read.state, descriptors };
}

async function succeed(t: Scope, world: PlaneWorld, options: PlaneWorldOptions = {}): Promise<PlaneWorld> {
  const handed = carried(await world.plane.handOver());
  await world.plane.stop();
  const next = await startPlane(t, [], { handed, ...options });
  next.plane.report();
  return next;
}

const idsOf = (world: PlaneWorld) => [...world.sessions.all()].map(({ id }) => id).sort();

async function ended(world: PlaneWorld, id: string) {
  return eventually(() => {
    const found = world.closed.find(({ session }) => session.id === id);
    assert.ok(found);
    return found;
  });
}

/** Sends chunks at the speed at which they are taken, until `isEnough`; returns how many, and their hash. */
async function sendAll(
  socket: Socket,
  chunk: Buffer,
  isEnough: (sent: number) => boolean,
): Promise<{ readonly chunks: number; readonly hash: string }> {
  const hash = createHash('sha256');
  let chunks = 0;
  for (; !isEnough(chunks); chunks += 1) {
    hash.update(chunk);
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
  socket.end();
  return { chunks, hash: hash.digest('hex') };
}

async function hashOf(socket: Socket): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of socket) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** A CONNECT whose client reads as a stream. */
async function flowTo(world: PlaneWorld, username: string, port: number): Promise<Socket> {
  const client = await connectThrough(player(world, username), '127.0.0.1', port);
  client.socket.removeAllListeners('data');
  return client.socket;
}

describe('a data plane that is handed over', { skip: process.platform !== 'linux' }, () => {
  // After a failure nobody may have the other ends, which a handover leaves open in this process.
  afterEach(() => RawClient.destroyAll());

  it('goes on with bulk flows in both directions, twice, over other numbers of workers', async (t) => {
    const target = await startTarget(t, echo);
    const first = await startPlane(t, NAMES, { workers: 2 });
    const chunk = randomBytes(1 << 18);
    const flows = await Promise.all(NAMES.map((name) => flowTo(first, name, target.port)));
    await first.plane.requests.settle();
    const ids = idsOf(first);
    // However fast they are, none ends before the last handover.
    let isLast = false;
    const moved = flows.map(async (socket, i) => {
      const received = hashOf(socket);
      const { chunks, hash } = await sendAll(socket, chunk, () => isLast);
      assert.equal(await received, hash);
      return { username: NAMES[i], bytes: chunks * chunk.length };
    });
    await eventually(() => {
      first.sessions.count();
      assert.ok([...first.sessions.all()].every(({ bytesDown }) => bytesDown > 1 << 20));
    });
    const second = await succeed(t, first, { workers: 3 });
    assert.deepEqual(idsOf(second), ids);
    const third = await succeed(t, second, { workers: 1 });
    isLast = true;
    const all = await Promise.all(moved);
    for (const id of ids) {
      const { session, summary } = await ended(third, id);
      const { bytes } = all.find(({ username }) => username === session.username) ?? {};
      assert.deepEqual([summary.bytesUp, summary.bytesDown, summary.end], [bytes, bytes, 'client-closed']);
    }
    assert.deepEqual([first.closed, second.closed, second.opened, third.opened], [[], [], [], []]);
    await eventually(() => assert.equal(third.plane.connections, 0));
  });

  it('takes along what waits in its pipes for a side that does not read', async (t) => {
    const target = await startTarget(t, hold);
    const world = await startPlane(t, NAMES);
    const socket = await flowTo(world, 'anna', target.port);
    const destination = await target.nextConnection();
    destination.pause();
    const sent = sendAll(socket, randomBytes(1 << 18), (chunks) => chunks === 64);
    let counted = -1;
    await eventually(async () => {
      await world.plane.requests.settle();
      world.sessions.count();
      const [{ bytesUp } = { bytesUp: 0 }] = world.sessions.all();
      const isBlocked = bytesUp > 1 << 20 && bytesUp === counted;
      counted = bytesUp;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isBlocked;
    });
    const handed = carried(await world.plane.handOver());
    const [connection] = handed.state.connections;
    assert.ok(connection?.kind === 'relay' && connection.pair.up.unsent.length > 0);
    await world.plane.stop();
    const next = await startPlane(t, [], { handed });
    next.plane.report();
    const received = hashOf(destination);
    destination.end();
    assert.equal(await received, (await sent).hash);
    const { summary } = await ended(next, connection.session.id);
    assert.equal(summary.bytesUp, 64 << 18);
  });

  it('keeps half-closed and idle sessions, rates, quotas, games and times', async (t) => {
    const target = await startTarget(t, echo);
    const limited = {
      ...accountRecord('slow'),
      limits: { ...NO_LIMITS, bytesPerSecondUp: 400_000, bytesPerSecondDown: 400_000, maxSessions: 2 },
      quotaLeft: 1_000_000,
    };
    const accounts = [accountRecord('anna'), limited];
    const games = [{ match: { ports: [target.port] }, id: 'chess' }];
    const first = await startPlane(t, [], { accounts, games, workers: 2 });
    const half = await connectThrough(player(first), '127.0.0.1', target.port);
    half.send('all of it');
    await half.read(9);
    const openTarget = await startTarget(t, (socket) => socket.resume());
    const waiting = await connectThrough(player(first), '127.0.0.1', openTarget.port);
    const other = await openTarget.nextConnection();
    waiting.socket.end('question');
    await eventually(() => other.readableEnded);
    const slow = await connectThrough(player(first, 'slow'), '127.0.0.1', target.port);
    const idle = await connectThrough(player(first, 'slow'), '127.0.0.1', target.port);
    slow.send(randomBytes(200_000));
    await slow.read(50_000);
    await first.plane.requests.settle();
    const before = new Map([...first.sessions.all()].map((session) => [session.id, session]));

    const next = await succeed(t, first, { workers: 3, games: [] });
    for (const session of next.sessions.all()) {
      const old = before.get(session.id);
      assert.deepEqual(
        [
          session.openedAt,
          session.gameId,
          session.destination,
          session.client,
          session.outgoing,
          session.connectMs,
        ],
        [old?.openedAt, old?.gameId, old?.destination, old?.client, old?.outgoing, old?.connectMs],
      );
    }
    assert.equal([...next.sessions.all()].filter(({ gameId }) => gameId === 'chess').length, 3);
    // The half-closed one is answered, and ends in the order in which its sides did.
    other.end('answer');
    assert.equal((await waiting.readToEnd()).toString(), 'answer');
    await eventually(() => assert.equal(next.closed[0]?.summary.end, 'client-closed'));
    half.send('more');
    assert.equal((await half.read(4)).toString(), 'more');
    // The limit of sessions counts those that were handed over.
    const third = await loggedInClient(player(next, 'slow'));
    third.send(request('127.0.0.1', target.port));
    assert.equal((await readReply(third)).code, 2);
    await slow.read(150_000);
    // The control plane says what is left by what it has counted: that of both processes.
    next.sessions.count();
    const traffic = [...next.sessions.all()].filter(({ username }) => username === 'slow');
    const used = traffic.reduce((sum, { bytesUp, bytesDown }) => sum + bytesUp + bytesDown, 0);
    next.plane.accounts.setQuotaLeft(limited.id, 1_000_000 - used);
    // At 400,000 bytes a second, with a full bucket of 40,000.
    const startedAt = performance.now();
    slow.send(randomBytes(200_000));
    await slow.read(200_000);
    assert.ok(performance.now() - startedAt > 300, 'under its rate');
    // The quota of 1 MB in all ends both of its sessions.
    slow.send(randomBytes(600_000));
    await Promise.all([slow.closed(), idle.closed()]);
    await next.plane.requests.settle();
    next.sessions.count();
    const ends = next.closed.filter(({ session }) => session.username === 'slow');
    const bytes = ends.map(({ summary }) => summary.bytesUp + summary.bytesDown);
    assert.deepEqual(
      [ends.map(({ summary }) => summary.end), bytes.reduce((sum, each) => sum + each, 0)],
      [['over-quota', 'over-quota'], 1_000_000],
    );
  });

  it('reads unfinished handshakes on, from every byte', async (t) => {
    const target = await startTarget(t, echo);
    const first = await startPlane(t, NAMES, { workers: 2 });
    const whole = [greeting(2), login('bert', PASSWORD), request('127.0.0.1', target.port)];
    const bytes = Buffer.concat(whole);
    const answers = [Buffer.from([5, 2]), Buffer.from([1, 0])];
    const clients = await Promise.all(
      Array.from(bytes, async (_, sent) => {
        const client = await RawClient.connect(first.port);
        client.send(bytes.subarray(0, sent));
        if (sent >= 3) assert.deepEqual(await client.read(2), answers[0]);
        if (sent >= bytes.length - 10) assert.deepEqual(await client.read(2), answers[1]);
        return client;
      }),
    );
    await eventually(() => assert.equal(first.plane.connections, clients.length));
    const next = await succeed(t, first, { workers: 3 });
    for (const [sent, client] of clients.entries()) {
      client.send(Buffer.concat([bytes.subarray(sent), Buffer.from('hello')]));
      if (sent < 3) await client.read(2);
      if (sent < bytes.length - 10) await client.read(2);
      assert.equal((await readReply(client)).code, 0, `after ${sent} bytes`);
      assert.equal((await client.read(5)).toString(), 'hello');
      client.destroy();
    }
    await next.plane.requests.settle();
    const logins = (first.logins.success ?? 0) + (next.logins.success ?? 0);
    assert.equal(logins, clients.length, 'each login is reported once');
    await eventually(() => assert.equal(next.plane.connections, 0));
  });

  it('goes on with SOCKS4a, HTTP CONNECT and HTTP connections between two requests', async (t) => {
    const target = await startTarget(t, echo);
    const web = await startTarget(t, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
    );
    const record = { ...accountRecord('anna'), authorizedAddresses: ['127.0.0.1'] };
    const first = await startPlane(t, [], { accounts: [record], workers: 2 });
    const fields = basicOf('anna');
    const tunnel = await RawClient.connect(first.port);
    tunnel.send(connectHead(`127.0.0.1:${target.port}`, fields));
    await readHead(tunnel);
    const get = `GET http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${web.port}\r\n${fields}\r\n`;
    const kept = await RawClient.connect(first.port);
    kept.send(get);
    assert.equal((await readHead(kept)).status, 200);
    await kept.read(2);
    // The second begins with half of its next request.
    const begun = await RawClient.connect(first.port);
    begun.send(get);
    await readHead(begun);
    await begun.read(2);
    begun.send(get.slice(0, 20));
    await eventually(() => assert.equal(first.plane.connections, 3));
    const next = await succeed(t, first, { workers: 1 });
    tunnel.send('through');
    assert.equal((await tunnel.read(7)).toString(), 'through');
    kept.send(get);
    begun.send(get.slice(20));
    for (const client of [kept, begun]) {
      assert.equal((await readHead(client)).status, 200);
      assert.equal((await client.read(2)).toString(), 'ok');
    }
    await next.plane.requests.settle();
    assert.deepEqual(
      [...next.sessions.all()].map(({ clientProtocol }) => clientProtocol),
      ['http'],
    );
  });

  it('keeps the ports and peers of associations, and a BIND that waits', async (t) => {
    const udp = await startUdpEcho(t);
    const first = await startPlane(t, NAMES, { workers: 2 });
    const game = await associateThrough(t, player(first));
    assert.equal(await game.roundTrip('127.0.0.1', udp.port, 'one'), 'one');
    const [{ from } = { from: { address: '', port: 0 } }] = [await peerOf(udp, game)];
    const fresh = await associateThrough(t, player(first, 'bert'));
    const bind = await loggedInClient(player(first, 'cleo'));
    bind.send(request('127.0.0.1', 0, BIND));
    const { port } = await readReply(bind);
    bind.send('early');
    await first.plane.requests.settle();
    const next = await succeed(t, first, { workers: 3 });
    // Without a datagram of the client: its peer still reaches it.
    udp.send(Buffer.from('from the peer'), from.port, from.address);
    assert.equal((await game.receive()).data.toString(), 'from the peer');
    assert.equal(await game.roundTrip('127.0.0.1', udp.port, 'two'), 'two');
    assert.equal((await peerOf(udp, game)).from.port, from.port, 'the same port outside');
    assert.equal(await fresh.roundTrip('127.0.0.1', udp.port, 'three'), 'three');
    const peer = connect(port, '127.0.0.1');
    t.after(() => peer.destroy());
    assert.equal((await readReply(bind)).code, 0);
    assert.equal(String((await once(peer, 'data'))[0]), 'early');
    peer.write('answer');
    assert.equal((await bind.read(6)).toString(), 'answer');
    game.control.destroy();
    const closed = await eventually(() => {
      assert.ok(next.closed[0]);
      return next.closed[0];
    });
    const { datagramsUp, datagramsDown, bytesUp, bytesDown, destinations } = closed.summary;
    assert.deepEqual(
      [datagramsUp, datagramsDown, bytesUp, bytesDown, destinations?.length],
      [4, 5, 3 + 4 + 3 + 4, 3 + 4 + 13 + 3 + 4, 1],
    );
  });

  it('answers logins with the accounts it was given, reports when it may, and then follows the real ones', async (t) => {
    const target = await startTarget(t, echo);
    const [anna, bert, cleo] = ['anna', 'bert', 'cleo'].map(accountRecord) as [Account, Account, Account];
    const first = await startPlane(t, [], { accounts: [anna, bert, cleo], workers: 2 });
    const clients = await Promise.all(
      ['anna', 'bert', 'cleo'].map((name) => connectThrough(player(first, name), '127.0.0.1', target.port)),
    );
    await first.plane.requests.settle();
    const handed = carried(await first.plane.handOver());
    await first.plane.stop();
    const next = await startPlane(t, [], { handed, workers: 3 });
    const early = await connectThrough(player(next), '127.0.0.1', target.port);
    clients[1]?.destroy();
    await eventually(() => assert.equal(next.plane.connections, 3));
    await next.plane.requests.settle();
    assert.deepEqual([next.opened, next.closed, next.logins], [[], [], {}], 'nobody hears of it yet');
    next.plane.accounts.replace([anna, { ...cleo, passwordVersion: 1 }, accountRecord('dora')]);
    next.plane.report();
    await clients[2]?.closed();
    await connectThrough(player(next, 'dora'), '127.0.0.1', target.port);
    await eventually(() =>
      assert.deepEqual(next.closed.map(({ session, summary }) => [session.username, summary.end]).sort(), [
        ['bert', 'client-closed'],
        ['cleo', 'password-changed'],
      ]),
    );
    await next.plane.requests.settle();
    assert.deepEqual(next.logins, { success: 2 });
    await assert.rejects(connectThrough(player(next, 'bert'), '127.0.0.1', target.port));
    for (const client of [clients[0], early]) {
      client?.send('still');
      assert.equal(String(await client?.read(5)), 'still');
    }
  });

  it('holds the permits of its sessions again', async (t) => {
    const target = await startTarget(t, echo);
    const account = { ...accountRecord('anna'), needsPermit: true };
    const first = await startPlane(t, [], { accounts: [account] });
    const client = await connectThrough(player(first), '127.0.0.1', target.port);
    await first.plane.requests.settle();
    const handed = carried(await first.plane.handOver());
    await first.plane.stop();
    const events: string[] = [];
    const permit = { release: () => void events.push('released') };
    const observer: PlaneOptions['observer'] = {
      sessions: new SessionRegistry(),
      exits: { wayChanged() {}, failed() {} },
      logins() {},
      rehashed() {},
      penalty() {},
      guarded() {},
      permits: {
        acquire: async () => ({ ok: true, permit }),
        hold(accountId, address) {
          events.push(`${accountId} ${address}`);
          return permit;
        },
      },
    };
    const next = await startPlane(t, [], { handed, observer });
    next.plane.report();
    const held = `${account.id} 127.0.0.1`;
    await eventually(() => assert.deepEqual(events, [held]));
    client.destroy();
    await eventually(() => assert.deepEqual(events, [held, 'released']));
  });

  it('starts again what waits for a name, and ends what it cannot hand over', async (t) => {
    let isAnswered = false;
    const names = await startNameServer(t, (_, family) => {
      if (!isAnswered) return 'silence';
      return family === 4 ? ['127.0.0.1'] : [];
    });
    const resolver = { ...RESOLVER, servers: [names.address], timeoutMs: 20_000 };
    const target = await startTarget(t, echo);
    const first = await startPlane(t, NAMES, { resolver });
    const looking = await loggedInClient(player(first));
    looking.send(Buffer.concat([request('slow.test', target.port), Buffer.from('at once')]));
    const silent = await startTarget(t, hold);
    const asking = await RawClient.connect(first.port);
    const authority = `127.0.0.1:${silent.port}`;
    asking.send(
      connectHead(authority, basicOf('anna')).replace('CONNECT ', 'GET http://').replace(' HTTP', '/ HTTP'),
    );
    await silent.nextConnection();
    await eventually(() => names.questions.length > 0);
    await eventually(async () => {
      await first.plane.requests.settle();
      assert.equal(first.sessions.size, 1);
    });
    const handed = carried(await first.plane.handOver());
    assert.deepEqual(handed.state.connections.map(({ kind }) => kind).sort(), ['lost', 'request']);
    await first.plane.stop();
    isAnswered = true;
    const next = await startPlane(t, [], { handed, resolver });
    next.plane.report();
    assert.equal((await readReply(looking)).code, 0);
    assert.equal((await looking.read(7)).toString(), 'at once');
    await asking.closed();
    assert.deepEqual(
      next.closed.map(({ session, summary }) => [session.id, summary.end]),
      [[idsOf(first)[0], 'shutdown']],
    );
    const { lost } = next.lines.find(({ message }) => message === 'sessions taken over')?.fields ?? {};
    assert.deepEqual(lost, { 'not-handed-over': 1 });
  });

  it('takes over idle sessions within a moment, and counts them again', async (t) => {
    const count = scaled(200);
    const target = await startTarget(t, echo);
    const settings = {
      ...SETTINGS,
      maxConnections: 2 * count,
      maxConnectionsPerSource: count,
      maxHandshakes: count,
      maxHandshakesPerSource: count,
    };
    const first = await startPlane(t, NAMES, { workers: 2, settings });
    const clients = [await connectThrough(player(first), '127.0.0.1', target.port)];
    const firstAt = performance.now();
    while (clients.length < count) {
      const some = NAMES.slice(0, count - clients.length).map((name) =>
        connectThrough(player(first, name), '127.0.0.1', target.port),
      );
      clients.push(...(await Promise.all(some)));
    }
    await first.plane.requests.settle();
    const ids = idsOf(first);
    const startedAt = performance.now();
    const handed = carried(await first.plane.handOver());
    const handedMs = performance.now() - startedAt;
    await first.plane.stop();
    const next = await startPlane(t, [], { workers: 3, settings, handed });
    const takenAt = performance.now();
    next.plane.report();
    for (const client of clients) client.send('x');
    for (const client of clients) await client.read(1);
    t.diagnostic(
      `${count} sessions: captured in ${handedMs.toFixed(0)} ms, all echoed ${(performance.now() - takenAt).toFixed(0)} ms after`,
    );
    assert.deepEqual([idsOf(next), next.plane.connections, next.closed], [ids, count, []]);
    const oneMore = await loggedInClient(player(next));
    oneMore.send(request('127.0.0.1', target.port));
    assert.equal((await readReply(oneMore)).code, 2, 'the source has all that it may have');
    await oneMore.closed();
    const endedAt = performance.now();
    next.plane.tell({ kind: 'end-all', reason: 'shutdown' });
    await eventually(() => assert.deepEqual([next.plane.connections, next.closed.length], [0, count]));
    // The pause is part of it.
    const longestMs = Math.max(...next.closed.map(({ summary }) => summary.durationMs));
    assert.ok(longestMs > 0.9 * (endedAt - firstAt), `open for ${longestMs} of ${endedAt - firstAt} ms`);
  });

  it('numbers sessions in their order, also when many of the first have ended already', () => {
    const slots = new SlotPool(viewSessionCounts(allocateSessionCounts(3000)));
    const first = Array.from({ length: 1100 }, () => slots.acquire(true));
    for (const slot of first) slots.release(slot);
    assert.deepEqual([slots.acquire(true), slots.acquire(), slots.acquire(true)], [1100, 0, 1101]);
  });

  it('ends all sessions of a state that it cannot read, and says how many', () => {
    assert.deepEqual(readPlaneState({ version: 7, sessions: 12 }), {
      ok: false,
      reason: 'state of version 7; this program reads 2',
      sessions: 12,
    });
    assert.equal(readPlaneState(null).ok, false);
  });
});

/** What the echo saw as the sender. */
async function peerOf(
  udp: Awaited<ReturnType<typeof startUdpEcho>>,
  game: Awaited<ReturnType<typeof associateThrough>>,
) {
  const seen = new Promise<{ from: { address: string; port: number } }>((resolve) =>
    udp.socket.once('message', (_, { address, port }) => resolve({ from: { address, port } })),
  );
  await game.roundTrip('127.0.0.1', udp.port, 'port');
  return seen;
}
