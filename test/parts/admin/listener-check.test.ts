// Whether the players' listeners answer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import { createListenerCheck } from '../../../src/parts/admin/listener-check.js';

async function listen(t: TestContext, onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => onConnection(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  t.after(() => void server.close());
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a listener answers when it sends a byte or closes the connection, and not when it refuses', async (t) => {
  const greetings: string[] = [];
  const speaking = await listen(t, (socket) =>
    socket.once('data', (bytes) => {
      greetings.push(bytes.toString('hex'));
      socket.end(Buffer.from([5, 2]));
    }),
  );
  const full = await listen(t, (socket) => socket.destroy());
  const check = createListenerCheck(() => [speaking, full, 'fd:3']);
  // Requests at the same time, and soon after, share one check.
  assert.deepEqual(await Promise.all([check(), check()]), [true, true]);
  assert.equal(await check(), true);
  assert.deepEqual(greetings, ['050102']);
  assert.equal(await createListenerCheck(() => [speaking, '127.0.0.1:1'])(), false);
});

it('a result is used for a second', async (t) => {
  let now = 0;
  let connections = 0;
  const address = await listen(t, (socket) => {
    connections += 1;
    socket.destroy();
  });
  const check = createListenerCheck(
    () => [address],
    () => now,
  );
  for (now of [0, 999, 1_000]) await check();
  assert.equal(connections, 2);
});
