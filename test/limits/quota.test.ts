// Quotas at full speed: the worker of an account counts down what is left, and stops there.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { before, describe, it, type TestContext } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectThrough, loggedInClient, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { startTarget, type Target } from '../helpers/targets.js';
import { associateThrough } from '../helpers/udp-client.js';

const MIB = 1024 * 1024;
/** The HTTP proxy writes header fields of its own to each client, which are not counted; for 16 clients at most, in bytes. */
const OWN_FIELDS = 16 * 100;
const QUOTA = 8 * MIB;
const CHUNK = Buffer.alloc(256 * 1024, 'x');
const DATAGRAM = Buffer.alloc(1_400, 'x');

/** Sends until the other side closes. */
function flood(socket: Socket): void {
  const push = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(CHUNK)) {
      // Until the socket's buffer is full.
    }
  };
  socket.on('drain', push).on('error', () => {});
  push();
}

/** Counts what a client receives, without keeping it. */
function receivedBy({ socket }: RawClient): { bytes: number } {
  const received = { bytes: 0 };
  socket.removeAllListeners('data').on('data', ({ length }) => {
    received.bytes += length;
  });
  return received;
}

for (const engine of ['native', 'node'] as const) {
  describe(`the quota of an account (${engine})`, () => {
    const scope = suiteScope();
    let daemon: TestDaemon;
    let source: Target;
    let web: Target;
    let sink: Target;
    let sunk = 0;
    let accounts = 0;

    before(async () => {
      daemon = await startTestDaemon(scope, { config: { socks: { engine, workers: 2 } } });
      // All flows are open before the first byte.
      source = await startTarget(scope, (socket) => socket.once('data', () => flood(socket)));
      web = await startTarget(scope, (socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n');
          flood(socket);
        }),
      );
      sink = await startTarget(scope, (socket) =>
        socket.on('data', ({ length }) => {
          sunk += length;
        }),
      );
    });

    async function account(quotaBytes = QUOTA) {
      accounts += 1;
      const username = `${engine}-${accounts}`;
      const id = await daemon.addAccount(username, 'secret');
      await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, { quotaBytes, quotaPeriod: 'never' });
      return { id, username, login: { port: daemon.socks.port, username, password: 'secret' } };
    }

    const flows = <Flow>(count: number, open: () => Promise<Flow>): Promise<Flow[]> =>
      Promise.all(Array.from({ length: count }, open));

    /** What left the daemon is at most what was left; what it has counted is not less. */
    async function assertStopped(
      { id, username, login }: Awaited<ReturnType<typeof account>>,
      delivered: number,
      quota = QUOTA,
      ownFields = 0,
    ): Promise<void> {
      assert.ok(delivered <= quota + MIB, `${delivered} of ${quota} bytes`);
      assert.ok(delivered > 0);
      await daemon.waitForLine((line) => line.msg === 'session ended' && line['account'] === username);
      const ends = daemon.lines.filter(
        (line) => line.msg === 'session ended' && line['account'] === username,
      );
      assert.deepEqual([...new Set(ends.map(({ end }) => end))], ['over-quota']);
      const refused = await loggedInClient(login);
      refused.send(request('127.0.0.1', source.port));
      assert.equal((await readReply(refused)).code, 2);
      refused.destroy();
      const answer = await daemon.api('GET', `/api/v1/accounts/${id}/limits`);
      const used = (answer.json as { usage: { periodBytes: number } }).usage.periodBytes;
      assert.ok(used >= quota && used <= quota + MIB, `${used} counted`);
      assert.ok(used >= delivered - ownFields, `${used} counted, ${delivered} delivered`);
    }

    for (const count of [1, 16]) {
      it(`stops ${count} TCP downloads`, async () => {
        const used = await account();
        const clients = await flows(count, () => connectThrough(used.login, '127.0.0.1', source.port));
        const received = clients.map(receivedBy);
        for (const client of clients) client.send('x');
        await Promise.all(clients.map((client) => client.closed()));
        await assertStopped(
          used,
          received.reduce((sum, { bytes }) => sum + bytes, 0),
        );
      });

      it(`stops ${count} TCP uploads`, async () => {
        const used = await account();
        sunk = 0;
        const clients = await flows(count, () => connectThrough(used.login, '127.0.0.1', sink.port));
        for (const { socket } of clients) flood(socket);
        await Promise.all(clients.map((client) => client.closed()));
        await assertStopped(used, sunk);
      });

      it(`stops ${count} responses of the HTTP proxy`, async () => {
        const used = await account();
        const clients = await flows(count, () => RawClient.connect(daemon.socks.port));
        const received = clients.map(receivedBy);
        const credentials = `Proxy-Authorization: ${basic(used.username, 'secret')}`;
        for (const client of clients)
          client.send(`GET http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: x\r\n${credentials}\r\n\r\n`);
        await Promise.all(clients.map((client) => client.closed()));
        await assertStopped(
          used,
          received.reduce((sum, { bytes }) => sum + bytes, 0),
          QUOTA,
          OWN_FIELDS,
        );
      });

      it(`stops ${count} UDP associations, up and down`, async (t) => {
        const used = await account();
        const clients = await flows(count, () => associateThrough(t, used.login));
        const far = await floodOfDatagrams(t);
        const received = { bytes: 0 };
        for (const { end } of clients)
          end.socket.removeAllListeners('message').on('message', ({ length }) => {
            received.bytes += length - 10;
          });
        const isOver = Promise.all(clients.map(({ control }) => control.closed()));
        let isEnded = false;
        void isOver.then(() => {
          isEnded = true;
        });
        while (!isEnded) {
          for (const client of clients)
            for (let n = 0; n < 8; n += 1) client.send('127.0.0.1', far.port, DATAGRAM);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await assertStopped(used, far.received() + received.bytes);
      });
    }

    /** A destination that counts datagrams, and answers each with two. */
    async function floodOfDatagrams(t: TestContext) {
      const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * MIB });
      t.after(() => void socket.close());
      let received = 0;
      socket.on('message', (data, { port, address }) => {
        received += data.length;
        for (let n = 0; n < 2; n += 1) socket.send(DATAGRAM, port, address);
      });
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
      return { port: socket.address().port, received: () => received };
    }

    it('is counted anew when it is raised and reset while a session transfers', async () => {
      const used = await account(32 * MIB);
      const path = `/api/v1/accounts/${used.id}`;
      const client = await connectThrough(used.login, '127.0.0.1', source.port);
      const received = receivedBy(client);
      // What the sockets hold while nobody reads is less than the first quota.
      client.socket.pause();
      client.send('x');
      await daemon.api('PATCH', `${path}/limits`, { quotaBytes: 4096 * MIB });
      client.socket.resume();
      await eventually(() => assert.ok(received.bytes > 40 * MIB));
      client.socket.pause();
      await daemon.api('PATCH', `${path}/limits`, { quotaBytes: 4096 * MIB, maxSessions: 9 });
      const reset = await daemon.api('POST', `${path}/usage/reset`);
      assert.equal(reset.status, 200, reset.text);
      await daemon.api('PATCH', `${path}/limits`, { quotaBytes: 24 * MIB });
      const before = received.bytes;
      client.socket.resume();
      await client.closed();
      const since = received.bytes - before;
      assert.ok(since > 16 * MIB, `${since} bytes since the reset`);
      // It also received what the sockets held at the reset, however much: that had been counted before.
      const { usage } = (await daemon.api('GET', `${path}/limits`)).json as {
        usage: { periodBytes: number };
      };
      const { periodBytes } = usage;
      assert.ok(periodBytes >= 24 * MIB && periodBytes <= 25 * MIB, `${periodBytes} counted since the reset`);
    });
  });
}
