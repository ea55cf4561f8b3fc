// How datagrams are put into messages: a run of equal sizes is one message that the kernel segments (UDP_SEGMENT).
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { type BatchSocket, createBatch } from '../../../../src/proxy/io/native/batch.js';
import {
  AF_INET,
  EINVAL,
  EIO,
  EMSGSIZE,
  type Libc,
  loadLibc,
  SOCK_DGRAM,
} from '../../../../src/proxy/io/native/libc.js';
import { SOCKADDR_WORDS, writeSockaddr } from '../../../../src/proxy/io/native/sockaddr.js';

/** An error that no rule of the batch names. */
const EPERM = 1;
const HEADER_WORDS = 16;
const VECTOR_COUNT_AT = 6;

async function openBatch(t: { after(close: () => void): void }) {
  const receiver: Socket = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const received: Buffer[] = [];
  receiver.on('message', (data: Buffer) => received.push(data));
  t.after(() => receiver.close());

  const real = loadLibc();
  /** The number of datagrams in each message, by call. */
  const calls: number[][] = [];
  /** Returns the errno with which a call fails, or null to execute it. */
  let refuse: (run: number, length: number) => number | null = () => null;
  let errno = 0;
  const libc: Libc = {
    ...real,
    errno: () => errno || real.errno(),
    sendMany(fd, headers, count) {
      const runs = Array.from({ length: count }, (_, i) => headers[i * HEADER_WORDS + VECTOR_COUNT_AT] ?? 0);
      calls.push(runs);
      errno = refuse(runs[0] ?? 0, count) ?? 0;
      return errno > 0 ? -1 : real.sendMany(fd, headers, count);
    },
  };
  const batch = createBatch(libc);
  const fd = real.socket(AF_INET, SOCK_DGRAM);
  t.after(() => real.close(fd));
  const socket: BatchSocket = { fd, maxSegmentBytes: 1472 };
  const to = new Uint32Array(SOCKADDR_WORDS);
  writeSockaddr(new Uint8Array(to.buffer), { address: '127.0.0.1', port: receiver.address().port });

  return {
    socket,
    calls,
    refuseWith(answer: typeof refuse): void {
      refuse = answer;
    },
    /** Sends datagrams of these sizes, and returns those that arrived. */
    async send(sizes: readonly number[], expected = sizes.length): Promise<number[]> {
      received.length = 0;
      for (const [i, size] of sizes.entries()) {
        batch.bytes.fill(i + 1, batch.dataAt(i), batch.dataAt(i) + size);
        batch.send(socket, batch.dataAt(i), size, to);
      }
      batch.flush();
      while (received.length < expected) await once(receiver, 'message');
      for (const data of received) assert.ok(data.every((byte) => byte === data[0]));
      return received.map(({ length }) => length);
    },
  };
}

test('a run of equal sizes is sent as one message, which a shorter datagram may end', async (t) => {
  const { send, calls } = await openBatch(t);
  const sizes = [...Array<number>(20).fill(200), 50, 200, 300, 300, 0, 0, 7];
  assert.deepEqual(await send(sizes), sizes);
  assert.deepEqual(calls, [[21, 1, 2, 1, 1, 1]]);
});

test('datagrams larger than a frame are sent one by one', async (t) => {
  const { send, calls } = await openBatch(t);
  assert.deepEqual(await send([1473, 1473, 1472, 1472]), [1473, 1473, 1472, 1472]);
  assert.deepEqual(calls, [[1, 1, 2]]);
});

for (const errno of [EIO, EINVAL]) {
  test(`a socket without segmentation (errno ${errno}) sends datagrams one by one, and does not try segmentation again`, async (t) => {
    const { send, calls, refuseWith, socket } = await openBatch(t);
    refuseWith((run) => (run > 1 ? errno : null));
    assert.deepEqual(await send([9, 9, 9, 5]), [9, 9, 9, 5]);
    assert.deepEqual(await send([9, 9]), [9, 9]);
    assert.deepEqual(calls, [[4], [1, 1, 1, 1], [1, 1]]);
    assert.equal(socket.maxSegmentBytes, 0);
  });
}

test('datagrams of a size that the path refuses to segment are sent one by one from then on', async (t) => {
  const { send, calls, refuseWith, socket } = await openBatch(t);
  refuseWith((run) => (run > 1 ? EMSGSIZE : null));
  assert.deepEqual(await send([1400, 1400]), [1400, 1400]);
  assert.equal(socket.maxSegmentBytes, 1399);
  refuseWith(() => null);
  assert.deepEqual(await send([1400, 1400, 900, 900]), [1400, 1400, 900, 900]);
  assert.deepEqual(calls, [[2], [1, 1], [1, 1, 2]]);
});

test('a system error of one message loses only this message', async (t) => {
  const { send, refuseWith } = await openBatch(t);
  let isFirst = true;
  refuseWith(() => {
    const answer = isFirst ? EPERM : null;
    isFirst = false;
    return answer;
  });
  assert.deepEqual(await send([9, 9, 9, 20, 30], 2), [20, 30]);
});
