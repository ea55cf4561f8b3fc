// Many flows at once with random sizes, chunks and aborts, whose every byte is checked where it arrives.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Lanes } from './lanes.js';

/** Every direction of every flow is a stretch of this, so that any prefix of it can be checked. */
const PATTERN = randomBytes(1 << 20);

interface Direction {
  readonly offset: number;
  readonly size: number;
}

/** Opens `flows` relays, at most `atOnce` together. Throws on the first byte that is wrong, missing or uncounted. */
export async function runFlows(
  lanes: Lanes,
  options: { readonly flows: number; readonly atOnce: number },
): Promise<{ bytes: number; aborted: number }> {
  let started = 0;
  let bytes = 0;
  let aborted = 0;
  const worker = async (): Promise<void> => {
    while (started < options.flows) {
      started += 1;
      const abort = randomInt(8) === 0;
      if (abort) aborted += 1;
      const moved = await runFlow(lanes, abort);
      bytes += moved;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, worker));
  return { bytes, aborted };
}

async function runFlow(lanes: Lanes, abort: boolean): Promise<number> {
  const up = randomDirection();
  const down = randomDirection();
  const early = randomInt(3) === 0 ? randomInt(Math.min(up.size, 30_000) + 1) : 0;
  const lane = await lanes.open(early > 0 ? { early: stretch(up, 0, early) } : {});
  const { player, far } = lane;
  const received = [check(far, up), check(player, down)];
  if (abort) {
    const at = randomInt(up.size + down.size + 1);
    const victim = [player, far][randomInt(2)];
    const stop = (): void => {
      if (lane.bytesUp() + lane.bytesDown() >= at) victim?.resetAndDestroy();
    };
    far.on('data', stop);
    player.on('data', stop).on('end', () => victim?.resetAndDestroy());
  }
  await Promise.all([send(player, up, early), send(far, down, 0)]);
  if (!abort) await Promise.all([ended(far), ended(player)]);
  const end = await lane.relay.ended();
  const [gotUp = 0, gotDown = 0] = received.map((count) => count());
  if (abort) {
    player.destroy();
    far.destroy();
    assert.ok(gotUp <= lane.bytesUp() && gotDown <= lane.bytesDown());
  } else {
    assert.match(end, /-closed$/);
    assert.deepEqual([gotUp, gotDown], [up.size, down.size]);
    assert.deepEqual([lane.bytesUp(), lane.bytesDown()], [up.size, down.size]);
  }
  return gotUp + gotDown;
}

function randomDirection(): Direction {
  // Mostly small, sometimes past every buffer on the way.
  const size = randomInt(4) === 0 ? randomInt(2_000_000) : randomInt(20_000);
  return { offset: randomInt(PATTERN.length), size };
}

function stretch(direction: Direction, from: number, to: number): Buffer {
  const start = (direction.offset + from) % PATTERN.length;
  const length = to - from;
  const tail = PATTERN.subarray(start, Math.min(start + length, PATTERN.length));
  if (tail.length === length) return tail;
  const rest = stretch({ offset: 0, size: 0 }, 0, length - tail.length);
  return Buffer.concat([tail, rest]);
}

/** Sends in random chunks; stops silently when the socket is gone. */
async function send(socket: Socket, direction: Direction, from: number): Promise<void> {
  // Tiny chunks for small flows; a large one in tiny chunks would take all the time there is.
  const most = Math.max(2 ** randomInt(4, 18), direction.size >> 7);
  for (let at = from; at < direction.size; ) {
    if (socket.destroyed) return;
    const to = Math.min(direction.size, at + 1 + randomInt(most));
    if (!socket.write(stretch(direction, at, to))) await drained(socket);
    at = to;
    if (randomInt(16) === 0) await new Promise(setImmediate);
  }
  socket.end();
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const stop = new AbortController();
  const { signal } = stop;
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]).catch(() => {});
  stop.abort();
}

async function ended(socket: Socket): Promise<void> {
  if (!socket.readableEnded) await once(socket, 'end');
}

/** Compares what arrives with what was sent; returns how much arrived so far. */
function check(socket: Socket, direction: Direction): () => number {
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    const expected = stretch(direction, at, at + chunk.length);
    assert.ok(at + chunk.length <= direction.size && chunk.equals(expected), `wrong bytes at ${at}`);
    at += chunk.length;
  });
  socket.resume();
  return () => at;
}
