// The worker's state machine without the worker: stale events, a machine without pipes, and a slow reader.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { EPOLL_EVENT, EPOLLIN, type Libc, loadLibc } from '../../src/relay/splice/libc.js';
import { createPipes, type Pipes } from '../../src/relay/splice/pipes.js';
import { createPump, type Pump } from '../../src/relay/splice/pump.js';
import { allocateShared, MOST_PIPES, Outcome, viewShared } from '../../src/relay/splice/shared.js';
import { closed, readAll, settled, until } from './harness.js';

const NO_PIPES: Pipes = {
  borrow: () => -1,
  giveBack: () => assert.fail('no pipe was lent'),
  discard: () => assert.fail('no pipe was lent'),
  readEnd: () => -1,
  writeEnd: () => -1,
};

interface Bench {
  readonly pump: Pump;
  readonly reports: [slot: number, generation: number, outcome: number][];
  readonly handedBack: [slot: number, generation: number, up: Uint8Array, down: Uint8Array][];
  readonly bytes: Float64Array;
  /** Serves what epoll has, without waiting. */
  turn(): void;
  close(): void;
}

function createBench(makePipes: (libc: Libc, ends: Int32Array) => Pipes): Bench {
  const libc = loadLibc();
  const epoll = libc.epollCreate();
  const shared = viewShared(allocateShared());
  const reports: Bench['reports'] = [];
  const handedBack: Bench['handedBack'] = [];
  const ends = new Int32Array(2 * MOST_PIPES);
  const pipes = makePipes(libc, ends);
  const report = (...what: Bench['reports'][number]): void => void reports.push(what);
  const handBack = (...what: Bench['handedBack'][number]): void => void handedBack.push(what);
  const pump = createPump(libc, epoll, pipes, shared, report, handBack);
  const events = new Int32Array(64 * EPOLL_EVENT.words);
  return {
    pump,
    reports,
    handedBack,
    bytes: shared.bytes,
    turn() {
      const count = libc.epollWait(epoll, events, 64, 0);
      for (let at = 0; at < count * EPOLL_EVENT.words; at += EPOLL_EVENT.words) {
        pump.event(
          events[at + EPOLL_EVENT.data] ?? -1,
          events[at + EPOLL_EVENT.data + 1] ?? -1,
          events[at] ?? 0,
        );
      }
      while (pump.visitBulk());
    },
    close() {
      for (const end of ends) if (end > 0) libc.close(end);
      libc.close(epoll);
    },
  };
}

/** A connection whose accepted end is never read by node, and that end's descriptor. */
async function rawPair(): Promise<{ near: Socket; accepted: Socket; fd: number }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  const { fd } = (accepted as unknown as { _handle: { fd: number } })._handle;
  return { near, accepted, fd };
}

for (const [name, makePipes] of [
  ['through pipes', createPipes],
  ['by copying, when there is no pipe', () => NO_PIPES],
] as const) {
  test(`bytes and ends cross ${name}, also past a reader that stops for a while`, {
    timeout: 30_000,
  }, async () => {
    const bench = createBench(makePipes);
    const [client, destination] = await Promise.all([rawPair(), rawPair()]);
    bench.pump.take(7, 1, client.fd, destination.fd, 0);
    const sent = randomBytes(20 << 20);
    client.near.end(sent);
    const timer = setInterval(() => bench.turn(), 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok((bench.bytes[14] ?? 0) < sent.length, 'what nobody reads stays with the sender');
    assert.ok((await readAll(destination.near)).equals(sent));
    assert.equal(bench.bytes[14], sent.length);
    destination.near.end('thanks');
    assert.equal((await readAll(client.near)).toString(), 'thanks');
    clearInterval(timer);
    assert.deepEqual(bench.reports, [[7, 1, Outcome.clientClosed]]);
    for (const { near, accepted } of [client, destination]) {
      accepted.destroy();
      near.destroy();
    }
    bench.close();
  });
}

test('an event of a session that is over does not touch the next one in its slot', async () => {
  const bench = createBench(createPipes);
  const [client, destination] = await Promise.all([rawPair(), rawPair()]);
  bench.pump.take(3, 1, client.fd, destination.fd, 0);
  bench.pump.release(3, 1);
  bench.pump.take(3, 2, client.fd, destination.fd, 0);
  client.near.resetAndDestroy();
  await closed(client.near);
  const [EPOLLERR, side] = [0x8, 6];
  bench.pump.event(side, 1, EPOLLIN | EPOLLERR);
  bench.pump.release(3, 1);
  assert.deepEqual(bench.reports, [[3, 1, Outcome.released]]);
  bench.turn();
  assert.deepEqual(bench.reports.at(-1), [3, 2, Outcome.clientReset]);
  client.accepted.destroy();
  destination.accepted.destroy();
  destination.near.destroy();
  bench.close();
});

test('a session that is handed back leaves what its pipe holds, and all the rest where it is', async () => {
  const bench = createBench(createPipes);
  const [client, destination] = await Promise.all([rawPair(), rawPair()]);
  bench.pump.take(5, 1, client.fd, destination.fd, 0);
  const sent = randomBytes(20 << 20);
  client.near.write(sent);
  const taken = await settled(() => {
    bench.turn();
    return bench.bytes[10] ?? 0;
  });
  bench.pump.handBack(5, 1);
  bench.pump.handBack(5, 1);
  bench.pump.release(5, 1);
  assert.deepEqual(bench.reports, []);
  const [[slot, generation, up, down] = assert.fail(), ...more] = bench.handedBack;
  assert.deepEqual([slot, generation, down.length, more], [5, 1, 0, []]);
  assert.ok(up.length > 0);
  const passedOn = taken - up.length;
  const received: Buffer[] = [];
  let length = 0;
  destination.near.on('data', (chunk: Buffer) => {
    received.push(chunk);
    length += chunk.length;
  });
  await until(() => length === passedOn);
  assert.ok(Buffer.concat([...received, up]).equals(sent.subarray(0, taken)));
  bench.turn();
  assert.equal(bench.bytes[10], taken);
  assert.equal(await settled(() => length), passedOn);
  for (const { near, accepted } of [client, destination]) {
    accepted.destroy();
    near.destroy();
  }
  bench.close();
});

test('a descriptor that epoll refuses ends the session as failed', () => {
  const bench = createBench(() => NO_PIPES);
  bench.pump.take(0, 1, -1, -1, 0);
  assert.deepEqual(bench.reports, [[0, 1, Outcome.failed]]);
  bench.close();
});
