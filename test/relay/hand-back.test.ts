// A flow that a relay worker has, and whose account then gets a rate, goes on as a stream under that rate.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type AccountRates, createSharedRate } from '../../src/core/sessions/rate-limit.js';
import type { RelayEnd, RelayEngine } from '../../src/core/sessions/relay.js';
import { createSpliceRelay, type HandOverPolicy } from '../../src/relay/splice/engine.js';
import { type RelayWorker, startRelayWorker } from '../../src/relay/splice/relay-worker.js';
import { MOST_PIPES } from '../../src/relay/splice/shared.js';
import { engineSuite } from './engine-suite.js';
import { runFlows } from './flows.js';
import {
  closed,
  createLanes,
  type Lane,
  type Lanes,
  openDescriptors,
  readAll,
  roundTrips,
  settled,
  until,
} from './harness.js';

const AT_ONCE: HandOverPolicy = { chunks: 0, bytes: 0 };
const SESSIONS = 400;

function rates(bytesPerSecond: number): AccountRates {
  const now = () => performance.now();
  return { up: createSharedRate(bytesPerSecond, now), down: createSharedRate(bytesPerSecond, now) };
}

/** An engine whose every flow gets a rate, wide enough to be in nobody's way, a few turns or milliseconds after it began. */
function limitedLater(engine: RelayEngine, most: number): RelayEngine {
  let isFirst = true;
  return (client, destination, options) => {
    const relay = engine(client, destination, options);
    // The first one lets the worker make the pipe that it keeps.
    if (isFirst) {
      isFirst = false;
      return relay;
    }
    const limit = () => relay.limitRates(rates(1e9));
    if (randomInt(4) === 0) setImmediate(limit);
    else setTimeout(limit, randomInt(most));
    return relay;
  };
}

engineSuite('splice engine, every flow handed back at some moment', async () => {
  const worker = await startRelayWorker(assert.fail);
  return {
    engine: limitedLater(createSpliceRelay([worker], AT_ONCE), 30),
    async close() {
      await until(() => worker.load() === 0);
      await worker.close();
    },
  };
});

describe('a flow that is handed back', () => {
  let worker: RelayWorker;
  let lanes: Lanes;
  let descriptors = 0;

  before(async () => {
    worker = await startRelayWorker(assert.fail);
    lanes = await createLanes(createSpliceRelay([worker], AT_ONCE));
    const lane = await lanes.open();
    await roundTrips(lane, 3);
    lane.relay.end();
    await lane.ended;
    lanes.hangUp();
    descriptors = await settled(() => openDescriptors() - 2 * countPipes());
  });
  after(
    async () => {
      lanes.hangUp();
      await until(() => worker.load() === 0);
      await lanes.close();
      await worker.close();
    },
    { timeout: 60_000 },
  );

  const it = (name: string, run: () => Promise<void>): void => void test(name, { timeout: 60_000 }, run);
  /** A lane that the worker has. */
  const lent = async (): Promise<Lane> => {
    const lane = await lanes.open();
    await roundTrips(lane, 3);
    assert.equal(worker.load(), 1);
    return lane;
  };
  const handedBack = () => until(() => worker.load() === 0);

  it('carries on both ways, counts exactly, and is not handed over again', async () => {
    const lane = await lent();
    lane.relay.limitRates(rates(1e9));
    lane.relay.limitRates(rates(1e9));
    await roundTrips(lane, 100);
    assert.equal(worker.load(), 0);
    assert.deepEqual([lane.relay.bytesUp(), lane.relay.bytesDown()], [103, 103]);
    lane.player.end();
    lane.far.end();
    await lane.ended;
    assert.equal(lane.ends(), 1);
  });

  it('is held to its rate from then on', async () => {
    const lane = await lent();
    const block = randomBytes(1 << 16);
    const write = () => void (lane.player.write(block) && setImmediate(write));
    lane.player.on('drain', write).on('error', () => {});
    lane.far.on('error', () => {}).resume();
    write();
    await until(() => lane.relay.bytesUp() > 50e6);
    const perSecond = 1e6;
    lane.relay.limitRates(rates(perSecond));
    await handedBack();
    const start = performance.now();
    const before = lane.relay.bytesUp();
    await until(() => lane.relay.bytesUp() - before > 1.5e6);
    const atMost = ((performance.now() - start) / 1000) * perSecond + 0.1 * perSecond + 2 * 65_536;
    assert.ok(lane.relay.bytesUp() - before <= atMost);
    lane.player.off('drain', write);
    lane.relay.end();
    await lane.ended;
  });

  it('keeps every byte, whichever side does not read, and comes back all the same', async () => {
    for (const stopped of ['player', 'far', 'both'] as const) {
      const lane = await lent();
      const sent = randomBytes(40 << 20);
      const blocked = stopped === 'both' ? [lane.player, lane.far] : [lane[stopped]];
      for (const socket of blocked) socket.pause();
      lane.player.end(sent);
      lane.far.end(sent);
      const received = [lane.player, lane.far]
        .filter((socket) => !blocked.includes(socket))
        .map((socket) => readAll(socket));
      await settled(() => lane.relay.bytesUp() + lane.relay.bytesDown());
      lane.relay.limitRates(rates(1e9));
      await handedBack();
      received.push(...blocked.map((socket) => readAll(socket.resume())));
      for (const bytes of await Promise.all(received)) assert.ok(bytes.equals(sent), stopped);
      assert.match(await lane.ended, /-closed$/);
      assert.deepEqual([lane.relay.bytesUp(), lane.relay.bytesDown()], [3 + sent.length, 3 + sent.length]);
    }
  });

  for (const side of ['player', 'far'] as const) {
    const end = side === 'player' ? 'client-closed' : 'destination-closed';
    const otherOf = (lane: Lane) => (side === 'player' ? lane.far : lane.player);

    it(`half-closed by the ${side} it stays so, and is answered`, async () => {
      const lane = await lent();
      lane[side].end('question');
      assert.equal((await readAll(otherOf(lane))).toString(), 'question');
      assert.equal(lane.relay.isHalfClosed(), true);
      lane.relay.limitRates(rates(1e9));
      await handedBack();
      assert.equal(lane.relay.isHalfClosed(), true);
      const answer = randomBytes(3 << 20);
      otherOf(lane).end(answer);
      assert.ok((await readAll(lane[side])).equals(answer));
      assert.equal(await lane.ended, end);
      assert.equal(lane.ends(), 1);
    });

    it(`an end of the ${side} that nobody has seen yet is passed on`, async () => {
      const lane = await lent();
      lane.relay.limitRates(rates(1e9));
      lane[side].end('last');
      assert.equal((await readAll(otherOf(lane))).toString(), 'last');
      otherOf(lane).end();
      assert.equal(await lane.ended, end);
    });

    it(`a reset of the ${side} meanwhile ends it once`, async () => {
      const lane = await lent();
      lane.relay.limitRates(rates(1e9));
      lane[side].resetAndDestroy();
      otherOf(lane)
        .on('error', () => {})
        .resume();
      assert.equal(await lane.ended, side === 'player' ? 'client-reset' : 'destination-reset');
      await closed(otherOf(lane));
      assert.equal(lane.ends(), 1);
      await handedBack();
    });
  }

  it('end() meanwhile ends it once', async () => {
    const lane = await lent();
    lane.relay.limitRates(rates(1e9));
    // Long enough for the worker to have let go, without this thread hearing of it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    lane.relay.end();
    lane.relay.end();
    assert.equal(await lane.ended, 'ended');
    await Promise.all([once(lane.player.resume(), 'end'), once(lane.far.resume(), 'end')]);
    assert.deepEqual([lane.ends(), worker.load()], [1, 0]);
  });

  it(`${SESSIONS} of them at random moments under a narrow rate arrive byte for byte and leave nothing`, async () => {
    const shared = rates(60e6);
    const engine = createSpliceRelay([worker], AT_ONCE);
    const many = await createLanes((client, destination, options) => {
      const at = 2 ** randomInt(1, 21);
      const look = setInterval(() => {
        if (relay.bytesUp() + relay.bytesDown() >= at || relay.isHalfClosed()) relay.limitRates(shared);
      }, 1);
      const onEnd = (end: RelayEnd): void => {
        clearInterval(look);
        options.onEnd(end);
      };
      const relay = engine(client, destination, { ...options, onEnd });
      return relay;
    });
    const { bytes, aborted } = await runFlows(many, { flows: SESSIONS, atOnce: 48 });
    assert.ok(bytes > 0 && aborted > SESSIONS / 20);
    await many.close();
    lanes.hangUp();
    await until(() => worker.load() === 0);
    // Empty pipes stay with the worker, for the next ones.
    assert.ok(countPipes() <= MOST_PIPES);
    await until(() => openDescriptors() - 2 * countPipes() <= descriptors);
  });
});

/** Of this process, both ends open. */
function countPipes(): number {
  const ends = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  const pipes = ends.filter((end) => end.startsWith('pipe:'));
  return pipes.length - new Set(pipes).size;
}
