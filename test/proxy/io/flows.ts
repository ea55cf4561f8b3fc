// Many flows at once with random sizes, chunks and aborts. Every received byte is checked.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { RelayedPairs } from './relayed-pairs.js';

/** Every direction of every flow sends a part of this pattern, so that any prefix can be checked. */
const PATTERN = randomBytes(1 << 20);

interface Direction {
  readonly offset: number;
  readonly size: number;
}

/** Opens `flows` relays, at most `atOnce` at once. Throws on the first byte that is wrong, missing or not counted. */
export async function runFlows(
  pairs: RelayedPairs,
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
      const flowBytes = await runFlow(pairs, abort);
      bytes += flowBytes;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, worker));
  return { bytes, aborted };
}

async function runFlow(pairs: RelayedPairs, abort: boolean): Promise<number> {
  const up = randomDirection();
  const down = randomDirection();
  const early = randomInt(3) === 0 ? randomInt(Math.min(up.size, 30_000) + 1) : 0;
  const pair = await pairs.open(early > 0 ? { early: slicePattern(up, 0, early) } : {});
  const { player, destination } = pair;
  const received = [check(destination, up), check(player, down)];
  if (abort) {
    const at = randomInt(up.size + down.size + 1);
    const aborted = [player, destination][randomInt(2)];
    const stop = (): void => {
      if (pair.bytesUp() + pair.bytesDown() >= at) aborted?.resetAndDestroy();
    };
    destination.on('data', stop);
    player.on('data', stop).on('end', () => aborted?.resetAndDestroy());
  }
  await Promise.all([send(player, up, early), send(destination, down, 0)]);
  if (!abort) await Promise.all([ended(destination), ended(player)]);
  const end = await pair.relay.ended();
  const [gotUp = 0, gotDown = 0] = received.map((count) => count());
  if (abort) {
    player.destroy();
    destination.destroy();
    assert.ok(gotUp <= pair.bytesUp() && gotDown <= pair.bytesDown());
  } else {
    assert.match(end, /-closed$/);
    assert.deepEqual([gotUp, gotDown], [up.size, down.size]);
    assert.deepEqual([pair.bytesUp(), pair.bytesDown()], [up.size, down.size]);
  }
  return gotUp + gotDown;
}

function randomDirection(): Direction {
  // Mostly small, sometimes larger than all buffers on the way.
  const size = randomInt(4) === 0 ? randomInt(2_000_000) : randomInt(20_000);
  return { offset: randomInt(PATTERN.length), size };
}

function slicePattern(direction: Direction, from: number, to: number): Buffer {
  const start = (direction.offset + from) % PATTERN.length;
  const length = to - from;
  const tail = PATTERN.subarray(start, Math.min(start + length, PATTERN.length));
  if (tail.length === length) return tail;
  const rest = slicePattern({ offset: 0, size: 0 }, 0, length - tail.length);
  return Buffer.concat([tail, rest]);
}

/** Sends in random chunks. Stops without an error when the socket is closed. */
async function send(socket: Socket, direction: Direction, from: number): Promise<void> {
  // Tiny chunks only for small flows, because a large flow in tiny chunks would take too long.
  const maxChunk = Math.max(2 ** randomInt(4, 18), direction.size >> 7);
  for (let at = from; at < direction.size; ) {
    if (socket.destroyed) return;
    const to = Math.min(direction.size, at + 1 + randomInt(maxChunk));
    if (!socket.write(slicePattern(direction, at, to))) await drained(socket);
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

/** Compares received bytes with the pattern. The returned function returns the number of bytes so destination. */
function check(socket: Socket, direction: Direction): () => number {
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    const expected = slicePattern(direction, at, at + chunk.length);
    assert.ok(at + chunk.length <= direction.size && chunk.equals(expected), `wrong bytes at ${at}`);
    at += chunk.length;
  });
  socket.resume();
  return () => at;
}
