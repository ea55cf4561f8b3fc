// A relay between two real connections: a player on one side, a far host on the other.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Relay, RelayEnd, RelayEngine, RelayOptions } from '../../src/core/sessions/relay.js';

export interface Lane {
  /** The player's own socket; the relay holds the other end of its connection. */
  readonly player: Socket;
  /** The far host's own socket. */
  readonly far: Socket;
  readonly relay: Relay;
  readonly ended: Promise<RelayEnd>;
  /** How often onEnd was called. */
  ends(): number;
}

export interface LaneOptions {
  readonly inspect?: RelayOptions['inspect'];
  /** Bytes that stand in front of the player's own, as if they had come with the SOCKS request. */
  readonly early?: Buffer;
}

export interface Lanes {
  open(options?: LaneOptions): Promise<Lane>;
  /** Destroys what players and far hosts still hold open. */
  hangUp(): void;
  close(): Promise<void>;
}

/** Two listeners on loopback, and relays between them as fast as `open` is called. */
export async function createLanes(engine: RelayEngine): Promise<Lanes> {
  const front = await listen(true);
  const back = await listen(false);
  const outside = new Set<Socket>();
  return {
    async open(options = {}) {
      const [player, client] = await pair(front);
      const [destination, far] = await pair(back);
      for (const socket of [player, far]) {
        outside.add(socket);
        socket.once('close', () => outside.delete(socket));
      }
      // What a listener does: it reads the handshake, and gives back what came behind it.
      player.write('hello');
      const greeting = await readBytes(client, 5);
      if (greeting.toString() !== 'hello') throw new Error(`unexpected greeting ${greeting}`);
      if (options.early) client.unshift(options.early);
      const { promise, resolve } = withResolvers<RelayEnd>();
      let ends = 0;
      const onEnd = (end: RelayEnd) => {
        ends += 1;
        resolve(end);
      };
      const relay = engine(client, destination, { onEnd, inspect: options.inspect });
      return { player, far, relay, ended: promise, ends: () => ends };
    },
    hangUp() {
      for (const socket of outside) socket.destroy();
    },
    async close() {
      await Promise.all([front, back].map((server) => once(server.close(), 'close')));
    },
  };
}

async function listen(pauseOnConnect: boolean): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect });
  // A thousand lanes open at once in one test.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return server;
}

/** One connection to `server`: its own end, and the accepted one. */
async function pair(server: Server): Promise<[Socket, Socket]> {
  const { port } = server.address() as AddressInfo;
  const near = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const accepted = new Promise<Socket>((resolve) => {
    const take = (socket: Socket) => {
      if (socket.remotePort !== near.localPort) return;
      server.off('connection', take);
      resolve(socket);
    };
    server.setMaxListeners(0).on('connection', take);
  });
  await once(near, 'connect');
  return [near, await accepted];
}

async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null;
    if (bytes) return bytes;
    await once(socket, 'readable');
  }
}

/** Reads everything up to the end of the stream. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** Resolves when the socket is closed, now or already, in whichever way. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

/** `count` round trips of one byte: enough for any engine to have settled into its way of relaying. */
export async function roundTrips(lane: Lane, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    lane.player.write('?');
    await once(lane.far, 'data');
    lane.far.write('!');
    await once(lane.player, 'data');
  }
}

/** Resolves once `read()` has returned the same value for 200 ms: for what must stop growing. */
export async function settled(read: () => number): Promise<number> {
  let last = read();
  for (let same = 0; same < 10; ) {
    await delay(20);
    const now = read();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** Resolves when `test()` holds; the runner's own time limit ends a wait that is in vain. */
export async function until(test: () => boolean): Promise<void> {
  while (!test()) await delay(5);
}

/** Runs `run` for every item, at most `atOnce` of them together. */
export async function forEach<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  const some = async (): Promise<void> => {
    for (const [index, item] of rest) await run(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

export function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
