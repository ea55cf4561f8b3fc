// Bulk flows of the stream engine read into buffers of their own: no byte may be overwritten before it is passed on.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createSharedRate } from '../../src/core/sessions/rate-limit.js';
import { readInto } from '../../src/relay/handle.js';
import { createReadBuffers, type ReadBuffers } from '../../src/relay/read-buffers.js';
import { createStreamRelay } from '../../src/relay/stream.js';
import { createLanes, type Lane, type Lanes, readAll } from './harness.js';

const BUFFERS = 4;
const MEBIBYTE = 1024 * 1024;

describe('a bulk flow of the stream engine', () => {
  const pool = createReadBuffers(BUFFERS);
  let taken = 0;
  let inUse = 0;
  const watched: ReadBuffers = {
    take() {
      const buffer = pool.take();
      if (buffer) {
        taken += 1;
        inUse += 1;
      }
      return buffer;
    },
    giveBack(buffer) {
      inUse -= 1;
      pool.giveBack(buffer);
    },
  };
  let lanes: Lanes;

  before(async () => {
    lanes = await createLanes(createStreamRelay(watched));
  });
  after(async () => {
    lanes.hangUp();
    await lanes.close();
  });

  const it = (name: string, run: () => Promise<void>): void => void test(name, { timeout: 60_000 }, run);

  it('arrives whole at a reader that stops and goes, in pieces of any size', async () => {
    const lane = await lanes.open();
    const before = taken;
    const [sent, received] = await Promise.all([sendPieces(lane.player, 48 * MEBIBYTE), readFitfully(lane)]);
    assert.equal(received, sent);
    assert.ok(taken > before, 'it never read into a buffer of its own');
    await lane.ended;
    assert.equal(inUse, 0);
  });

  it('arrives whole when small pieces meet a full connection', async () => {
    const lane = await lanes.open();
    const before = taken;
    const source = randomBytes(16 * MEBIBYTE);
    lane.player.write(source.subarray(0, 2 * MEBIBYTE));
    const parts: Buffer[] = [];
    for (let got = 0; got < 2 * MEBIBYTE; ) {
      const part = lane.far.read() as Buffer | null;
      if (part === null) await once(lane.far, 'readable');
      else {
        parts.push(part);
        got += part.length;
      }
    }
    assert.ok(taken > before, 'it never read into a buffer of its own');
    // Nobody reads now: piece after piece goes to the relay, until the connection behind it is full.
    for (let at = 2 * MEBIBYTE; at < source.length; at += 3_000) {
      lane.player.write(source.subarray(at, at + 3_000));
      await new Promise((resume) => setImmediate(resume));
    }
    lane.player.end();
    parts.push(await readAll(lane.far));
    assert.equal(digest(Buffer.concat(parts)), digest(source));
    lane.far.end();
    await lane.ended;
  });

  it('arrives whole both ways at once', async () => {
    const lane = await lanes.open();
    const [up, down, upSeen, downSeen] = await Promise.all([
      sendPieces(lane.player, 24 * MEBIBYTE),
      sendPieces(lane.far, 24 * MEBIBYTE),
      readAll(lane.far).then(digest),
      readAll(lane.player).then(digest),
    ]);
    assert.deepEqual([upSeen, downSeen], [up, down]);
    await lane.ended;
    assert.equal(inUse, 0);
  });

  it('arrives whole when a rate comes while bytes wait to be written', async () => {
    for (let round = 0; round < 8; round += 1) {
      const lane = await lanes.open();
      const before = taken;
      const sending = sendPieces(lane.player, 12 * MEBIBYTE);
      // The reader has not begun: sooner or later the relay is stuck with a full buffer.
      await stuck(lane);
      assert.ok(taken > before, 'it never read into a buffer of its own');
      const now = () => performance.now();
      const rates = { up: createSharedRate(1e9, now), down: createSharedRate(1e9, now) };
      lane.relay.limitRates(rates);
      const received = await readAll(lane.far);
      assert.equal(digest(received), await sending);
      lane.far.end();
      await lane.ended;
    }
    assert.equal(inUse, 0);
  });

  it('goes on in the usual way when all buffers are in use, and there are no more of them than allowed', async () => {
    const open = await Promise.all(Array.from({ length: BUFFERS + 2 }, () => lanes.open()));
    const results = open.map(async (lane) => {
      const [sent, received] = await Promise.all([sendPieces(lane.player, 4 * MEBIBYTE), readFitfully(lane)]);
      assert.equal(received, sent);
    });
    await Promise.all(results);
    await Promise.all(open.map((lane) => lane.ended));
    assert.equal(inUse, 0);
    const all = Array.from({ length: BUFFERS }, () => pool.take());
    assert.ok(all.every((buffer) => buffer?.length === 64 * 1024));
    assert.equal(pool.take(), null);
    for (const buffer of all) if (buffer) pool.giveBack(buffer);
  });

  it('is left alone where net.Socket has no such parts', async () => {
    assert.equal(
      readInto(new Socket(), Buffer.alloc(1), () => true),
      false,
    );
  });
});

/** Sends random bytes in random pieces, then ends; resolves with their digest. */
async function sendPieces(socket: Socket, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  const source = randomBytes(MEBIBYTE);
  for (let left = bytes; left > 0; ) {
    const at = randomInt(MEBIBYTE - 1);
    const most = randomInt(4) === 0 ? 3_000 : 300_000;
    const piece = source.subarray(at, at + Math.min(left, 1 + randomInt(most)));
    left -= piece.length;
    hash.update(piece);
    if (!socket.write(piece)) await once(socket, 'drain');
  }
  socket.end();
  return hash.digest('hex');
}

/** Reads what the far host gets, with pauses; resolves with its digest. */
async function readFitfully({ far }: Lane): Promise<string> {
  const hash = createHash('sha256');
  let chunks = 0;
  for await (const chunk of far) {
    hash.update(chunk as Buffer);
    chunks += 1;
    if (chunks % 16 === 0) await new Promise((resume) => setImmediate(resume));
  }
  far.end();
  return hash.digest('hex');
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Resolves once the relay has taken nothing for a while. */
async function stuck({ relay }: Lane): Promise<void> {
  for (let last = -1, still = 0; still < 20; ) {
    const now = relay.bytesUp();
    still = now === last && now > MEBIBYTE ? still + 1 : 0;
    last = now;
    await new Promise((resume) => setTimeout(resume, 1));
  }
}
