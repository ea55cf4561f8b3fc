// The listener's sockets are what net.Server would have made, whoever constructs them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createSocksListener } from '../../src/socks/quick-sockets.js';
import { readAll, withResolvers } from '../relay/harness.js';

/** Versions of V8 for which it constructs them itself, and for which it leaves that to net.Server. */
for (const [what, v8] of [
  ['constructed here', '11.3.244'],
  ['constructed by net.Server', '13.6.233'],
] as const) {
  describe(`a client's socket ${what}`, { timeout: 30_000 }, () => {
    it('carries bytes both ways and outlives the end of one of them', async () => {
      const accepted = withResolvers<Socket>();
      const server = createSocksListener(accepted.resolve, v8).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const near = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      near.end('ping');
      const client = await accepted.promise;
      assert.equal(client.remotePort, near.localPort);
      assert.equal(client.allowHalfOpen, true);
      assert.equal(String(await readAll(client)), 'ping');
      client.end('pong');
      assert.equal(String(await readAll(near)), 'pong');
      server.close();
      await once(server, 'close');
    });

    it('counts for its server: close waits for the last of them', async () => {
      const clients: Socket[] = [];
      const server = createSocksListener((client) => clients.push(client), v8).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const near = [0, 1].map(() => connect({ port, host: '127.0.0.1' }).resume());
      while (clients.length < 2) await once(server, 'connection');
      let isClosed = false;
      server.close(() => {
        isClosed = true;
      });
      clients[0]?.destroy();
      await once(near[0] ?? server, 'close');
      assert.equal(isClosed, false);
      assert.equal(await connections(server), 1);
      clients[1]?.destroy();
      await once(server, 'close');
      assert.equal(await connections(server), 0);
    });
  });
}

function connections(server: ReturnType<typeof createSocksListener>): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}
