// A TCP connection to the tests' PostgreSQL, on which a test can lose the server's answers.
import { createServer, connect as dial, type Socket } from 'node:net';
import type { Scope } from './suite.js';

/**
 * A connection to the server of `connection` through the test. `onClientData` gets the client's bytes. While it is cut, no bytes go
 * back.
 */
export async function startDatabaseWire(t: Scope, connection: string) {
  const url = new URL(connection);
  // The test's server listens on a Unix socket in a folder.
  const path = `${url.searchParams.get('host')}/.s.PGSQL.${url.port}`;
  const wire = { isCut: false, onClientData: (_bytes: Buffer, _client: Socket): void => undefined };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const onward = dial(path);
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        onward.end();
      });
    }
    client.on('data', (bytes: Buffer) => {
      onward.write(bytes);
      wire.onClientData(bytes, client);
    });
    onward.on('data', (bytes: Buffer) => {
      if (!wire.isCut) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return Object.assign(wire, { connection: url.href });
}
