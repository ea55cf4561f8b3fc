// The system's table of TCP sockets: a connection of this machine is found by both endpoints.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import { isConnectedHere } from '../../../src/parts/admin/own-outbound.js';
import { needsFor } from '../../helpers/programs.js';

const onLinux = { skip: process.platform === 'linux' ? false : 'only Linux has this table' };

/** Connects to a listener on `listenOn`; returns the client's socket. */
async function connection(t: TestContext, listenOn: string, host: string): Promise<Socket> {
  const server = createServer((socket) => t.after(() => socket.destroy())).listen(0, listenOn);
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, host);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

for (const [listenOn, host, address] of [
  ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ['::1', '::1', '::1'],
  ['::', '::ffff:127.0.0.1', '127.0.0.1'],
] as const) {
  it(`the TCP table contains a connection to ${host}`, onLinux.skip ? onLinux : needsFor(host), async (t) => {
    const { localPort: from = 0, remotePort: to = 0 } = await connection(t, listenOn, host);
    const ends = (localPort: number, remotePort: number) =>
      [
        { address, port: localPort },
        { address, port: remotePort },
      ] as const;
    assert.equal(await isConnectedHere(...ends(from, to)), true);
    // The server's side of the connection is a socket, too. A pair that differs in one endpoint is not.
    assert.equal(await isConnectedHere(...ends(to, from)), true);
    assert.equal(await isConnectedHere(...ends(from, to === 65_535 ? 1 : to + 1)), false);
    assert.equal(await isConnectedHere({ address, port: from }, { address: '127.0.0.9', port: to }), false);
  });
}

it('the TCP table contains no connection of an invalid address', onLinux, async () => {
  const nowhere = { address: '', port: 0 };
  assert.equal(await isConnectedHere(nowhere, nowhere), false);
});
