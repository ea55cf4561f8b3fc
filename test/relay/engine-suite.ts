// What every relay engine must do, whichever way it moves the bytes.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { RelayEngine } from '../../src/core/sessions/relay.js';
import { runFlows } from './flows.js';
import {
  closed,
  createLanes,
  type Lanes,
  openDescriptors,
  readAll,
  roundTrips,
  settled,
  until,
} from './harness.js';

export interface EngineUnderTest {
  readonly engine: RelayEngine;
  close(): Promise<void>;
}

/** Round trips before the event of a test: none, and enough for an engine that changes its way to have done so. */
const WARM_UPS = [0, 40];
const FLOWS = Number(process.env['RELAY_TEST_FLOWS'] ?? 1500);
const SESSIONS = Number(process.env['RELAY_TEST_SESSIONS'] ?? 2000);

/** What is left open fails the suite, and does not hold it up. */
const AFTER = { timeout: 60_000 };

/** A test that waits in vain says so, and does not hold up the others. */
function it(name: string, run: () => Promise<void>): void {
  test(name, { timeout: 180_000 }, run);
}

export function engineSuite(name: string, make: () => Promise<EngineUnderTest>): void {
  describe(name, () => {
    let made: EngineUnderTest;
    let lanes: Lanes;
    let descriptors = 0;
    before(async () => {
      made = await make();
      lanes = await createLanes(made.engine);
      // The first lane opens what stays open: the resolver, the pool.
      const lane = await lanes.open();
      await roundTrips(lane, 60);
      lane.relay.end();
      await lane.ended;
      lanes.hangUp();
      descriptors = await settled(openDescriptors);
    });
    after(async () => {
      lanes.hangUp();
      await until(() => openDescriptors() <= descriptors);
      await lanes.close();
      await made.close();
    }, AFTER);

    for (const warmUp of WARM_UPS) {
      const moment = warmUp === 0 ? 'at once' : `after ${warmUp} round trips`;

      it(`the player's half-close leaves the answer open, ${moment}`, async () => {
        const lane = await lanes.open();
        await roundTrips(lane, warmUp);
        lane.player.end('question');
        assert.equal((await readAll(lane.far)).toString(), 'question');
        assert.equal(lane.relay.isHalfClosed(), true);
        lane.far.end('answer');
        assert.equal((await readAll(lane.player)).toString(), 'answer');
        assert.equal(await lane.ended, 'client-closed');
        assert.equal(lane.relay.isHalfClosed(), false);
        assert.equal(lane.relay.bytesUp(), warmUp + 8);
        assert.equal(lane.relay.bytesDown(), warmUp + 6);
      });

      it(`the far host's half-close leaves the question open, ${moment}`, async () => {
        const lane = await lanes.open();
        await roundTrips(lane, warmUp);
        lane.far.end('banner');
        assert.equal((await readAll(lane.player)).toString(), 'banner');
        assert.equal(lane.relay.isHalfClosed(), true);
        lane.player.end('bye');
        assert.equal((await readAll(lane.far)).toString(), 'bye');
        assert.equal(await lane.ended, 'destination-closed');
      });

      for (const side of ['player', 'far'] as const) {
        it(`a reset of the ${side} resets the other side, ${moment}`, async () => {
          const lane = await lanes.open();
          await roundTrips(lane, warmUp);
          const other = side === 'player' ? lane.far : lane.player;
          other.resume();
          lane[side].resetAndDestroy();
          const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException];
          assert.equal(error.code, 'ECONNRESET');
          assert.equal(await lane.ended, side === 'player' ? 'client-reset' : 'destination-reset');
        });

        it(`a reset of the ${side} in the middle of bulk data ends the other side, ${moment}`, async () => {
          const lane = await lanes.open();
          await roundTrips(lane, warmUp);
          const other = side === 'player' ? lane.far : lane.player;
          lane[side].on('error', () => {});
          // Behind data libuv may report the reset as an end here too.
          other.on('error', () => {}).on('end', () => other.end());
          other.resume();
          const block = randomBytes(1 << 16);
          for (let i = 0; i < 64; i += 1) lane[side].write(block);
          await until(() => other.bytesRead > 1 << 17);
          lane[side].resetAndDestroy();
          await closed(other);
          assert.equal(await lane.ended, side === 'player' ? 'client-reset' : 'destination-reset');
        });

        it(`the ${side} stops reading: the sender stops too, then every byte arrives, ${moment}`, async () => {
          const lane = await lanes.open();
          await roundTrips(lane, warmUp);
          const sender = side === 'player' ? lane.far : lane.player;
          const count = side === 'player' ? lane.relay.bytesDown : lane.relay.bytesUp;
          const block = randomBytes(1 << 20);
          lane[side].pause();
          for (let i = 0; i < 64; i += 1) sender.write(block);
          sender.end();
          const taken = await settled(() => count.call(lane.relay));
          assert.ok(taken < 24 << 20, `took ${taken} bytes that nobody reads`);
          const received = await readAll(lane[side].resume());
          assert.ok(received.equals(Buffer.concat(Array.from({ length: 64 }, () => block))));
          assert.equal(count.call(lane.relay), warmUp + received.length);
          lane[side].end();
          await lane.ended;
        });
      }

      it(`end() closes both sides and is told once, ${moment}`, async () => {
        const lane = await lanes.open();
        await roundTrips(lane, warmUp);
        lane.player.resume();
        lane.far.resume();
        lane.relay.end();
        lane.relay.end();
        await Promise.all([once(lane.player, 'end'), once(lane.far, 'end')]);
        assert.equal(await lane.ended, 'ended');
        lane.relay.end();
        lane.player.end();
        lane.far.end();
        await Promise.all([closed(lane.player), closed(lane.far)]);
        assert.equal(lane.ends(), 1);
      });

      it(`end() while one direction is blocked, ${moment}`, async () => {
        const lane = await lanes.open();
        await roundTrips(lane, warmUp);
        lane.player.on('error', () => {}).write(randomBytes(32 << 20));
        lane.far.on('error', () => {}).pause();
        await settled(() => lane.relay.bytesUp());
        lane.relay.end();
        assert.equal(await lane.ended, 'ended');
        lane.far.resume();
        await Promise.all([closed(lane.player), closed(lane.far.end())]);
      });

      it(`end() while half-closed, ${moment}`, async () => {
        const lane = await lanes.open();
        await roundTrips(lane, warmUp);
        lane.player.end();
        await once(lane.far.resume(), 'end');
        lane.relay.end();
        assert.equal(await lane.ended, 'ended');
        await Promise.all([closed(lane.player.resume()), closed(lane.far.end())]);
      });
    }

    it('bytes that came with the request go first, and are counted', async () => {
      const early = randomBytes(40_000);
      const lane = await lanes.open({ early });
      lane.player.end('later');
      assert.ok((await readAll(lane.far)).equals(Buffer.concat([early, Buffer.from('later')])));
      assert.equal(lane.relay.bytesUp(), 40_005);
      lane.far.end();
      assert.equal(await lane.ended, 'client-closed');
      assert.equal(lane.relay.bytesDown(), 0);
      lane.player.destroy();
    });

    it('the inspector sees the first bytes in order until it has seen enough, and alters nothing', async () => {
      const seen: Buffer[] = [];
      const lane = await lanes.open({
        early: Buffer.from('ab'),
        inspect: (chunk) => {
          seen.push(Buffer.from(chunk));
          return Buffer.concat(seen).length < 5;
        },
      });
      let received = '';
      lane.far.on('data', (chunk: Buffer) => {
        received += chunk.toString();
      });
      for (const letter of 'cdefgh') {
        const before = received.length;
        lane.player.write(letter);
        await until(() => received.length > before && received.endsWith(letter));
      }
      assert.equal(received, 'abcdefgh');
      assert.equal(Buffer.concat(seen).toString(), 'abcde');
      lane.relay.end();
      await lane.ended;
    });

    it('a connection that was gone before the relay began ends it', async () => {
      const lane = await lanes.open();
      lane.player.resetAndDestroy();
      lane.far.on('error', () => {}).resume();
      assert.match(await lane.ended, /^client-(reset|closed)$/);
      assert.equal(lane.ends(), 1);
    });

    it(`${FLOWS} flows of random size, chunks and aborts arrive byte for byte`, async () => {
      const { bytes, aborted } = await runFlows(lanes, { flows: FLOWS, atOnce: 64 });
      assert.ok(bytes > 0 && aborted > FLOWS / 20);
    });

    it(`${SESSIONS} sessions opened and ended at random leave no descriptor`, async () => {
      let opened = 0;
      const one = async (): Promise<void> => {
        while (opened < SESSIONS) {
          opened += 1;
          const lane = await lanes.open();
          for (const socket of [lane.player, lane.far]) {
            socket.on('error', () => {}).on('end', () => socket.end());
            socket.resume();
          }
          lane.player.write(randomBytes(Math.floor(Math.random() * 200_000)));
          lane.far.write(randomBytes(Math.floor(Math.random() * 200_000)));
          const turns = Math.floor(Math.random() * 8);
          for (let i = 0; i < turns; i += 1) await new Promise(setImmediate);
          const choice = Math.floor(Math.random() * 4);
          if (choice === 0) lane.relay.end();
          else if (choice === 1) lane.player.destroy();
          else if (choice === 2) lane.far.resetAndDestroy();
          else lane.player.end();
          await lane.ended;
          lane.player.destroy();
          lane.far.destroy();
        }
      };
      await Promise.all(Array.from({ length: 100 }, one));
      lanes.hangUp();
      await until(() => openDescriptors() <= descriptors);
    });
  });
}
