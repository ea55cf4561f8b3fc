// What the relay of every driver must do.
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
import { type Lane, Lanes } from './lanes.js';

/** Bytes each way before the event of a test: none, and enough for a driver that changes its way to have done so. */
const WARM_UPS = [0, 1 << 20];
const FLOWS = scaled(150);
const MIB = 1 << 20;

export function relaySuite(driver: () => Driver): void {
  let lanes: Lanes;
  before(async () => {
    lanes = await Lanes.start(driver());
  });
  after(() => lanes.close());

  async function warm(bytes: number): Promise<Lane> {
    const lane = await lanes.open();
    for (const [from, to] of bytes > 0
      ? ([
          [lane.player, lane.far],
          [lane.far, lane.player],
        ] as const)
      : []) {
      from.write(randomBytes(bytes));
      await take(to, bytes);
    }
    return lane;
  }

  for (const warmUp of WARM_UPS) {
    const moment = warmUp === 0 ? 'at once' : `after ${warmUp} bytes each way`;

    it(`the client's half-close leaves the answer open, ${moment}`, async () => {
      const lane = await warm(warmUp);
      lane.player.end('question');
      assert.equal((await readAll(lane.far)).toString(), 'question');
      assert.equal(await lane.relay.call('isHalfClosed'), true);
      lane.far.end('answer');
      assert.equal((await readAll(lane.player)).toString(), 'answer');
      assert.equal(await lane.relay.ended(), 'client-closed');
      assert.equal(await lane.relay.call('isHalfClosed'), false);
      assert.deepEqual([lane.bytesUp(), lane.bytesDown()], [warmUp + 8, warmUp + 6]);
    });

    it(`the destination's half-close leaves the question open, ${moment}`, async () => {
      const lane = await warm(warmUp);
      lane.far.end('banner');
      assert.equal((await readAll(lane.player)).toString(), 'banner');
      assert.equal(await lane.relay.call('isHalfClosed'), true);
      lane.player.end('bye');
      assert.equal((await readAll(lane.far)).toString(), 'bye');
      assert.equal(await lane.relay.ended(), 'destination-closed');
    });

    for (const side of ['player', 'far'] as const) {
      const reset = side === 'player' ? 'client-reset' : 'destination-reset';

      it(`a reset of the ${side} resets the other side, ${moment}`, async () => {
        const lane = await warm(warmUp);
        const other = side === 'player' ? lane.far : lane.player;
        const failed = once(other.resume(), 'error');
        lane[side].resetAndDestroy();
        const [error] = (await failed) as [NodeJS.ErrnoException];
        assert.equal(error.code, 'ECONNRESET');
        assert.equal(await lane.relay.ended(), reset);
      });

      it(`a reset of the ${side} in the middle of bulk data ends the other side, ${moment}`, async () => {
        const lane = await warm(warmUp);
        const other = side === 'player' ? lane.far : lane.player;
        // Behind data Node may see a reset as an end.
        other.on('end', () => other.end()).resume();
        const before = other.bytesRead;
        const block = randomBytes(1 << 16);
        for (let i = 0; i < 64; i += 1) lane[side].write(block);
        await eventually(() => other.bytesRead - before > 1 << 17);
        lane[side].resetAndDestroy();
        await closed(other);
        const end = await lane.relay.ended();
        const orderly = side === 'player' ? 'client-closed' : 'destination-closed';
        assert.ok(end === reset || (driver().engine === 'node' && end === orderly), end);
      });

      it(`the ${side} stops reading: the sender stops too, then every byte arrives, ${moment}`, async () => {
        const lane = await warm(warmUp);
        const sender = side === 'player' ? lane.far : lane.player;
        const count = side === 'player' ? lane.bytesDown : lane.bytesUp;
        const block = randomBytes(MIB);
        lane[side].pause();
        for (let i = 0; i < 40; i += 1) sender.write(block);
        sender.end();
        const taken = await settled(count);
        assert.ok(taken < 24 * MIB, `took ${taken} bytes that nobody reads`);
        const received = await readAll(lane[side].resume());
        assert.ok(received.equals(Buffer.concat(Array.from({ length: 40 }, () => block))));
        assert.equal(count(), warmUp + received.length);
        lane[side].end();
        await lane.relay.ended();
      });
    }

    for (const [state, prepare] of [
      ['idle', async () => {}],
      [
        'blocked',
        async (lane: Lane) => {
          lane.far.pause();
          lane.player.write(randomBytes(16 * MIB));
          await settled(lane.bytesUp);
        },
      ],
      [
        'half-closed',
        async (lane: Lane) => {
          lane.player.end();
          await once(lane.far.resume(), 'end');
        },
      ],
    ] as const) {
      it(`close() of a relay that is ${state} closes both sides and reports nothing, ${moment}`, async () => {
        const lane = await warm(warmUp);
        await prepare(lane);
        await lane.relay.call('close');
        await lane.relay.call('close');
        const gone = [closed(lane.player.resume()), closed(lane.far.resume())];
        lane.player.end();
        lane.far.end();
        await Promise.all(gone);
        assert.deepEqual(lane.relay.events('ended'), []);
      });
    }
  }

  it('what came before the relay goes first, and is counted', async () => {
    const early = randomBytes(40_000);
    const lane = await lanes.open({ early });
    lane.player.end('later');
    assert.ok((await readAll(lane.far)).equals(Buffer.concat([early, Buffer.from('later')])));
    assert.equal(lane.bytesUp(), 40_005);
    lane.far.end();
    assert.equal(await lane.relay.ended(), 'client-closed');
    assert.equal(lane.bytesDown(), 0);
    lane.player.destroy();
  });

  it('the inspector sees the first bytes in order until it has seen enough, and alters nothing', async () => {
    const lane = await lanes.open({ early: Buffer.from('ab'), inspect: 5 });
    for (const letter of 'cdefgh') {
      lane.player.write(letter);
      await once(lane.far.resume(), 'data');
    }
    const seen = Buffer.concat(lane.relay.events<Uint8Array>('inspected'));
    assert.equal(seen.toString(), 'abcde');
    assert.equal(lane.bytesUp(), 8);
    await lane.relay.call('close');
  });

  it('the inspector sees bulk data too', async () => {
    const sent = randomBytes(2 * MIB);
    const lane = await lanes.open({ inspect: 100_000 });
    lane.player.end(sent);
    assert.ok((await readAll(lane.far)).equals(sent));
    const seen = Buffer.concat(lane.relay.events<Uint8Array>('inspected'));
    assert.ok(seen.length >= 100_000 && seen.equals(sent.subarray(0, seen.length)));
    lane.far.end();
    await lane.relay.ended();
  });

  it('the bytes that the reader has are counted by then', async () => {
    const lane = await lanes.open();
    let received = 0;
    lane.far.on('data', (chunk: Buffer) => {
      received += chunk.length;
      assert.ok(lane.bytesUp() >= received, `${lane.bytesUp()} counted, ${received} received`);
    });
    for (let i = 0; i < 200; i += 1) lane.player.write(randomBytes(1 + (i % 7) * 3000));
    lane.player.end();
    await once(lane.far.resume(), 'end');
    lane.far.end();
    await lane.relay.ended();
  });

  it('a connection that was gone before the relay began ends it', async () => {
    const lane = await lanes.open();
    lane.player.resetAndDestroy();
    lane.far.resume();
    assert.match(await lane.relay.ended(), /^client-(reset|closed)$/);
  });

  it('rates hold in both directions, for what came early too', async () => {
    const early = randomBytes(60_000);
    const lane = await lanes.open({ early, rates: [400_000, 800_000] });
    const startedAt = performance.now();
    const [up, down] = [randomBytes(100_000), randomBytes(320_000)];
    lane.player.end(up);
    lane.far.end(down);
    const times: number[] = [];
    const timed = async (socket: Socket): Promise<Buffer> => {
      const all = await readAll(socket);
      times.push(performance.now() - startedAt);
      return all;
    };
    const [atFar, atPlayer] = await Promise.all([timed(lane.far), timed(lane.player)]);
    assert.ok(atFar.equals(Buffer.concat([early, up])));
    assert.ok(atPlayer.equals(down));
    // A tenth of a second passes at once; the rest of 160 and 320 KB takes 0.3 s.
    for (const ms of times) assert.ok(ms > 200 && ms < 30_000, `${ms} ms`);
    assert.deepEqual([lane.bytesUp(), lane.bytesDown()], [160_000, 320_000]);
    assert.equal(await lane.relay.ended().then((end) => end.endsWith('-closed')), true);
  });

  for (const warmUp of WARM_UPS) {
    it(`rates come and go in the middle of a flow, after ${warmUp} bytes`, async () => {
      const lane = await warm(warmUp);
      const sent = randomBytes(4 * MIB);
      await lane.relay.call('setRates', [20_000, 20_000]);
      const received = readAll(lane.far);
      lane.player.end(sent);
      await eventually(() => lane.bytesUp() > warmUp);
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(lane.bytesUp() < warmUp + 400_000, `${lane.bytesUp()} bytes at 20 KB/s`);
      await lane.relay.call('setRates', null);
      assert.ok((await received).equals(sent));
      assert.equal(lane.bytesUp(), warmUp + sent.length);
      lane.far.end();
      await lane.relay.ended();
    });
  }

  it('a relay at a low rate is reset, ended and closed at once', async () => {
    for (const end of ['reset', 'close'] as const) {
      const lane = await lanes.open({ rates: [1000, 1000] });
      lane.player.write(randomBytes(MIB));
      lane.far.resume();
      await eventually(() => lane.bytesUp() > 0);
      if (end === 'close') {
        await lane.relay.call('close');
        await closed(lane.far.end());
      } else {
        lane.far.resetAndDestroy();
        assert.equal(await lane.relay.ended(), 'destination-reset');
      }
    }
  });

  it(`${FLOWS} flows of random size, chunks and aborts arrive byte for byte`, async () => {
    const { bytes, aborted } = await runFlows(lanes, { flows: FLOWS, atOnce: 50 });
    assert.ok(bytes > 0 && aborted > 0);
  });
}

/** Reads so many bytes, and pauses again. */
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
