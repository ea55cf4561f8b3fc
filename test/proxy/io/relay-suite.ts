// What the relay of every engine must do.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before } from 'node:test';
import { eventually } from '../../helpers/eventually.js';
import { scaled } from '../../helpers/scale.js';
import type { Driver } from './driver.js';
import { runFlows } from './flows.js';
import { closed, it, readAll, settled } from './helpers.js';
import { type RelayedPair, RelayedPairs } from './relayed-pairs.js';

/** Bytes each way before the event of a test: none, and enough for a driver that changes its method during a flow. */
const WARM_UPS = [0, 1 << 20];
const FLOWS = scaled(150);
const MIB = 1 << 20;

export function relaySuite(driver: () => Driver): void {
  let pairs: RelayedPairs;
  before(async () => {
    pairs = await RelayedPairs.start(driver());
  });
  after(() => pairs.close());

  async function warm(bytes: number): Promise<RelayedPair> {
    const pair = await pairs.open();
    for (const [from, to] of bytes > 0
      ? ([
          [pair.player, pair.destination],
          [pair.destination, pair.player],
        ] as const)
      : []) {
      from.write(randomBytes(bytes));
      await take(to, bytes);
    }
    return pair;
  }

  for (const warmUp of WARM_UPS) {
    const moment = warmUp === 0 ? 'at once' : `after ${warmUp} bytes each way`;

    it(`the client's half-close leaves the other direction open, ${moment}`, async () => {
      const pair = await warm(warmUp);
      pair.player.end('question');
      assert.equal((await readAll(pair.destination)).toString(), 'question');
      assert.equal(await pair.relay.call('isHalfClosed'), true);
      pair.destination.end('answer');
      assert.equal((await readAll(pair.player)).toString(), 'answer');
      assert.equal(await pair.relay.ended(), 'client-closed');
      assert.equal(await pair.relay.call('isHalfClosed'), false);
      assert.deepEqual([pair.bytesUp(), pair.bytesDown()], [warmUp + 8, warmUp + 6]);
    });

    it(`the destination's half-close leaves the other direction open, ${moment}`, async () => {
      const pair = await warm(warmUp);
      pair.destination.end('banner');
      assert.equal((await readAll(pair.player)).toString(), 'banner');
      assert.equal(await pair.relay.call('isHalfClosed'), true);
      pair.player.end('bye');
      assert.equal((await readAll(pair.destination)).toString(), 'bye');
      assert.equal(await pair.relay.ended(), 'destination-closed');
    });

    for (const side of ['player', 'destination'] as const) {
      const reset = side === 'player' ? 'client-reset' : 'destination-reset';

      it(`a reset of the ${side} resets the other side, ${moment}`, async () => {
        const pair = await warm(warmUp);
        const other = side === 'player' ? pair.destination : pair.player;
        const failed = once(other.resume(), 'error');
        pair[side].resetAndDestroy();
        const [error] = (await failed) as [NodeJS.ErrnoException];
        assert.equal(error.code, 'ECONNRESET');
        assert.equal(await pair.relay.ended(), reset);
      });

      it(`a reset of the ${side} in the middle of bulk data ends the other side, ${moment}`, async () => {
        const pair = await warm(warmUp);
        const other = side === 'player' ? pair.destination : pair.player;
        // Node may report a reset after data as an end.
        other.on('end', () => other.end()).resume();
        const before = other.bytesRead;
        const block = randomBytes(1 << 16);
        for (let i = 0; i < 64; i += 1) pair[side].write(block);
        await eventually(() => other.bytesRead - before > 1 << 17);
        pair[side].resetAndDestroy();
        await closed(other);
        const end = await pair.relay.ended();
        const orderly = side === 'player' ? 'client-closed' : 'destination-closed';
        assert.ok(end === reset || (driver().engine === 'node' && end === orderly), end);
      });

      it(`the relay stops reading while the ${side} does not read, and then relays every byte, ${moment}`, async () => {
        const pair = await warm(warmUp);
        const sender = side === 'player' ? pair.destination : pair.player;
        const count = side === 'player' ? pair.bytesDown : pair.bytesUp;
        const block = randomBytes(MIB);
        pair[side].pause();
        for (let i = 0; i < 40; i += 1) sender.write(block);
        sender.end();
        const relayed = await settled(count);
        assert.ok(relayed < 24 * MIB, `the relay read ${relayed} bytes while its receiver did not read`);
        const received = await readAll(pair[side].resume());
        assert.ok(received.equals(Buffer.concat(Array.from({ length: 40 }, () => block))));
        assert.equal(count(), warmUp + received.length);
        pair[side].end();
        await pair.relay.ended();
      });
    }

    for (const [state, prepare] of [
      ['idle', async () => {}],
      [
        'blocked',
        async (pair: RelayedPair) => {
          pair.destination.pause();
          pair.player.write(randomBytes(16 * MIB));
          await settled(pair.bytesUp);
        },
      ],
      [
        'half-closed',
        async (pair: RelayedPair) => {
          pair.player.end();
          await once(pair.destination.resume(), 'end');
        },
      ],
    ] as const) {
      it(`close() of a relay that is ${state} closes both sides and reports nothing, ${moment}`, async () => {
        const pair = await warm(warmUp);
        await prepare(pair);
        await pair.relay.call('close');
        await pair.relay.call('close');
        const bothClosed = [closed(pair.player.resume()), closed(pair.destination.resume())];
        pair.player.end();
        pair.destination.end();
        await Promise.all(bothClosed);
        assert.deepEqual(pair.relay.events('ended'), []);
      });
    }
  }

  it('bytes from before the relay are sent first, and are counted', async () => {
    const early = randomBytes(40_000);
    const pair = await pairs.open({ early });
    pair.player.end('later');
    assert.ok((await readAll(pair.destination)).equals(Buffer.concat([early, Buffer.from('later')])));
    assert.equal(pair.bytesUp(), 40_005);
    pair.destination.end();
    assert.equal(await pair.relay.ended(), 'client-closed');
    assert.equal(pair.bytesDown(), 0);
    pair.player.destroy();
  });

  it('the inspector gets the first bytes in order until it has enough, and changes none', async () => {
    const pair = await pairs.open({ early: Buffer.from('ab'), inspect: 5 });
    let received = 0;
    pair.destination.on('data', ({ length }: Buffer) => {
      received += length;
    });
    pair.destination.resume();
    // Each letter alone: the one before it must have arrived.
    for (const [i, letter] of [...'cdefgh'].entries()) {
      await eventually(() => received === 2 + i);
      pair.player.write(letter);
    }
    await eventually(() => received === 8);
    const seen = Buffer.concat(pair.relay.events<Uint8Array>('inspected'));
    assert.equal(seen.toString(), 'abcde');
    assert.equal(pair.bytesUp(), 8);
    await pair.relay.call('close');
  });

  it('the inspector gets the beginning of bulk data', async () => {
    const sent = randomBytes(2 * MIB);
    const pair = await pairs.open({ inspect: 100_000 });
    pair.player.end(sent);
    assert.ok((await readAll(pair.destination)).equals(sent));
    const seen = Buffer.concat(pair.relay.events<Uint8Array>('inspected'));
    assert.ok(seen.length >= 100_000 && seen.equals(sent.subarray(0, seen.length)));
    pair.destination.end();
    await pair.relay.ended();
  });

  it('bytes are counted before the receiver gets them', async () => {
    const pair = await pairs.open();
    let received = 0;
    pair.destination.on('data', (chunk: Buffer) => {
      received += chunk.length;
      assert.ok(pair.bytesUp() >= received, `${pair.bytesUp()} counted, ${received} received`);
    });
    for (let i = 0; i < 200; i += 1) pair.player.write(randomBytes(1 + (i % 7) * 3000));
    pair.player.end();
    await once(pair.destination.resume(), 'end');
    pair.destination.end();
    await pair.relay.ended();
  });

  it('all that a destination sent before its reset arrives, also beside small flows', async () => {
    // Node closes a socket when a write fails, with the bytes that were not read yet.
    if (driver().engine === 'node') return;
    const [pair, chat] = [await warm(8 * MIB), await pairs.open()];
    const held = driver().call(0, 'hold', 300);
    // Before the other: after a small flow has moved something, a visit of a bulk flow is short.
    chat.player.write('hello');
    const last = randomBytes(200_000);
    await new Promise<void>((resolve) => pair.destination.write(last, () => resolve()));
    pair.destination.resetAndDestroy();
    await held;
    let received = 0;
    pair.player.on('data', ({ length }: Buffer) => {
      received += length;
    });
    // Node may report a reset after data as an end.
    pair.player
      .on('error', () => {})
      .on('end', () => pair.player.end())
      .resume();
    await closed(pair.player);
    assert.equal(await pair.relay.ended(), 'destination-reset');
    assert.equal(received, last.length);
  });

  it('a connection that was reset before the relay began ends it', async () => {
    const pair = await pairs.open();
    pair.player.resetAndDestroy();
    pair.destination.resume();
    assert.match(await pair.relay.ended(), /^client-(reset|closed)$/);
  });

  it('rates limit both directions, also bytes from before the relay', async () => {
    const early = randomBytes(60_000);
    const pair = await pairs.open({ early, rates: [400_000, 800_000] });
    const startedAt = performance.now();
    const [up, down] = [randomBytes(100_000), randomBytes(320_000)];
    pair.player.end(up);
    pair.destination.end(down);
    const times: number[] = [];
    const timed = async (socket: Socket): Promise<Buffer> => {
      const all = await readAll(socket);
      times.push(performance.now() - startedAt);
      return all;
    };
    const [atDestination, atPlayer] = await Promise.all([timed(pair.destination), timed(pair.player)]);
    assert.ok(atDestination.equals(Buffer.concat([early, up])));
    assert.ok(atPlayer.equals(down));
    // The bytes of a tenth of a second pass at once. The rest of 160 and 320 KB takes 0.3 s.
    for (const ms of times) assert.ok(ms > 200 && ms < 30_000, `${ms} ms`);
    assert.deepEqual([pair.bytesUp(), pair.bytesDown()], [160_000, 320_000]);
    assert.equal(await pair.relay.ended().then((end) => end.endsWith('-closed')), true);
  });

  for (const warmUp of WARM_UPS) {
    it(`rates can be set and removed during a flow, after ${warmUp} bytes`, async () => {
      const pair = await warm(warmUp);
      const sent = randomBytes(4 * MIB);
      await pair.relay.call('setRates', [20_000, 20_000]);
      const received = readAll(pair.destination);
      pair.player.end(sent);
      await eventually(() => pair.bytesUp() > warmUp);
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(pair.bytesUp() < warmUp + 400_000, `${pair.bytesUp()} bytes at 20 KB/s`);
      await pair.relay.call('setRates', null);
      assert.ok((await received).equals(sent));
      assert.equal(pair.bytesUp(), warmUp + sent.length);
      pair.destination.end();
      await pair.relay.ended();
    });
  }

  it('a relay at a low rate is reset or closed at once', async () => {
    for (const end of ['reset', 'close'] as const) {
      const pair = await pairs.open({ rates: [1000, 1000] });
      pair.player.write(randomBytes(MIB));
      pair.destination.resume();
      await eventually(() => pair.bytesUp() > 0);
      if (end === 'close') {
        await pair.relay.call('close');
        await closed(pair.destination.end());
      } else {
        pair.destination.resetAndDestroy();
        assert.equal(await pair.relay.ended(), 'destination-reset');
      }
    }
  });

  it(`every byte of ${FLOWS} flows with random sizes, chunks and aborts arrives`, async () => {
    const { bytes, aborted } = await runFlows(pairs, { flows: FLOWS, atOnce: 50 });
    assert.ok(bytes > 0 && aborted > 0);
  });
}

/** Reads `bytes` bytes, and pauses again. */
async function take(socket: Socket, bytes: number): Promise<void> {
  let left = bytes;
  await new Promise<void>((resolve) => {
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left > 0) return;
      socket.off('data', onData).pause();
      resolve();
    };
    socket.on('data', onData).resume();
  });
}
