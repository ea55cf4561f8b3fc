// Destinations for the proxy: TCP servers on loopback. The end of the test closes them.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { freePort } from './ports.js';
import type { Scope } from './suite.js';

export interface Target {
  readonly port: number;
  readonly host: string;
  /** Number of accepted connections so far. */
  readonly accepted: () => number;
  /** Resolves with the next connection that was not returned before. */
  nextConnection(): Promise<Socket>;
}

/** Listens on `host` and calls `serve` for each connection, which has `allowHalfOpen`. */
export async function startTarget(
  t: Scope,
  serve: (socket: Socket) => void,
  host = '127.0.0.1',
  port?: number,
): Promise<Target> {
  const open = new Set<Socket>();
  const unclaimed: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    serve(socket);
    const claim = waiting.shift();
    if (claim) claim(socket);
    else unclaimed.push(socket);
  });
  // A port on which a daemon listens at 127.0.0.1 would be its own at every address of this machine.
  server.listen(port ?? (host === '127.0.0.1' ? 0 : await freePort()), host);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return {
    host,
    port: address.port,
    accepted: () => accepted,
    nextConnection: () =>
      new Promise((resolve) => {
        const ready = unclaimed.shift();
        if (ready) resolve(ready);
        else waiting.push(resolve);
      }),
  };
}

/** Sends received bytes back, and its FIN after the client's. */
export function echo(socket: Socket): void {
  socket.pipe(socket);
}

/** Accepts a connection and does nothing with it. */
export function hold(): void {}

/** Answers what it sees of a client, as the servers do that people ask for their address. */
export function tellAddress(socket: Socket): void {
  socket.once('data', () => socket.end(`HTTP/1.0 200 OK\r\n\r\n${socket.remoteAddress}\n`));
}
