// A relay of the driver between two real connections: a player on one side, a destination on the other.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Driver, Remote, RemoteRelay, RemoteStream } from './driver.js';
import type { RelaySettings } from './driver-objects.js';
import { Target } from './helpers.js';

export interface RelayedPair {
  /** The player's socket. The driver has the other end of its connection. */
  readonly player: Socket;
  /** The destination's socket. */
  readonly destination: Socket;
  readonly relay: RemoteRelay;
  bytesUp(): number;
  bytesDown(): number;
}

export class RelayedPairs {
  readonly #outside = new Set<Socket>();
  readonly #accepted = new Map<number, unknown>();
  #seen = 0;

  private constructor(
    readonly driver: Driver,
    readonly listening: { listener: Remote; local: { port: number } },
    readonly target: Target,
  ) {}

  static async start(driver: Driver): Promise<RelayedPairs> {
    const listening = await driver.listen();
    if (typeof listening === 'string') throw new Error(listening);
    return new RelayedPairs(driver, listening, await Target.start());
  }

  /** `early`: the bytes that the player sends before the relay begins, which the driver reads like a request. */
  async open(settings: Omit<RelaySettings, 'countAt'> = {}): Promise<RelayedPair> {
    const { driver, listening, target } = this;
    const player = connect({
      port: listening.local.port,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    this.#track(player);
    await once(player, 'connect');
    const client = await this.#acceptedFrom(player.localPort ?? 0);
    const greeting = Buffer.concat([Buffer.from('hello'), settings.early ?? Buffer.alloc(0)]);
    player.write(greeting);
    await client.call('resume');
    const read = await client.data(greeting.length);
    await client.call('pause');
    const server = await driver.connect({ address: '127.0.0.1', port: target.port });
    if (typeof server === 'string') throw new Error(server);
    const destination = await target.connectionFrom(server.local.port);
    const early = settings.early ? read.subarray('hello'.length) : null;
    return { player, destination, ...(await driver.relay(client, server, { ...settings, early })) };
  }

  /** Destroys the open sockets of players and destinations. */
  destroySockets(): void {
    for (const socket of this.#outside) socket.destroy();
  }

  async close(): Promise<void> {
    this.destroySockets();
    this.target.close();
    await this.listening.listener.call('close');
  }

  #track(socket: Socket): void {
    this.#outside.add(socket);
    socket.on('error', () => {}).once('close', () => this.#outside.delete(socket));
  }

  async #acceptedFrom(port: number): Promise<RemoteStream> {
    const connections = this.listening.listener.events<{ peer: { port: number } }>('connection');
    for (;;) {
      for (; this.#seen < connections.length; this.#seen += 1) {
        const made = connections[this.#seen];
        if (made) this.#accepted.set(made.peer.port, made);
      }
      const made = this.#accepted.get(port);
      this.#accepted.delete(port);
      if (made) return this.driver.stream(made);
      await once(this.listening.listener, 'event');
    }
  }
}
