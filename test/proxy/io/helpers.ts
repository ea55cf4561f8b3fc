// Helpers of the suites of engines: waiting, reading, and a target server.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from '../../helpers/scale.js';

const TIMEOUT_MS = scaled(30_000);

/** Defines a test with a time limit, so that a test that waits forever does not stop the others. */
export function it(
  name: string,
  run: () => Promise<void>,
  needed: { readonly skip: string | false } = { skip: false },
): void {
  test(name, { timeout: TIMEOUT_MS, ...needed }, run);
}

/** Resolves once `read()` has returned the same value for 100 ms. For values that must stop growing. */
export async function settled(read: () => number): Promise<number> {
  let last = read();
  for (let same = 0; same < 10; ) {
    await delay(10);
    const now = read();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** Reads everything up to the end of the stream. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A socket reports its end even while it is paused, when nothing is buffered.
  if (!socket.readableEnded) await once(socket.resume(), 'end');
  return Buffer.concat(chunks);
}

/** Resolves when the socket is closed, or at once if it is closed already. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** A TCP server in the test's thread. Connections are found by their remote port. */
export class Target {
  readonly #connections = new Map<number, Socket>();
  readonly #open = new Set<Socket>();

  private constructor(
    readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.on('error', () => {}).once('close', () => this.#open.delete(socket));
      this.#connections.set(socket.remotePort ?? 0, socket);
    });
  }

  static async start(address = '127.0.0.1'): Promise<Target> {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    server.setMaxListeners(0);
    server.listen({ port: 0, host: address, backlog: 4096 });
    await once(server, 'listening');
    return new Target(server, (server.address() as AddressInfo).port);
  }

  async connectionFrom(port: number): Promise<Socket> {
    for (;;) {
      const socket = this.#connections.get(port);
      this.#connections.delete(port);
      if (socket) return socket;
      await once(this.server, 'connection');
    }
  }

  close(): void {
    this.server.close();
    for (const socket of this.#open) socket.destroy();
  }
}
