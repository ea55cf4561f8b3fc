// A TCP relay before the tests' PostgreSQL, which can drop the server's answers.
import { createServer, connect as dial, type Socket } from 'node:net';
import type { Scope } from './suite.js';

/**
 * Relays connections to the server of `connection`. `onClientData` gets the client's bytes. While `isCut` is true, the server's
 * bytes are dropped.
 */
export async function startDatabaseWire(t: Scope, connection: string) {
  const url = new URL(connection);
  // The test's server listens on a Unix socket in a folder.
  const path = `${url.searchParams.get('host')}/.s.PGSQL.${url.port}`;
  const wire = { isCut: false, onClientData: (_bytes: Buffer, _client: Socket): void => undefined };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = dial(path);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.end();
      });
    }
    client.on('data', (bytes: Buffer) => {
      upstream.write(bytes);
      wire.onClientData(bytes, client);
    });
    upstream.on('data', (bytes: Buffer) => {
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
