// A relay of the driver between two real connections: a player on one side, a destination on the other.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Driver, Remote, RemoteRelay, RemoteStream } from './driver.js';
import type { RelaySettings } from './driver-objects.js';
import { Target } from './helpers.js';

export interface Lane {
  /** The player's own socket; the driver has the other end of its connection. */
  readonly player: Socket;
  /** The destination's own socket. */
  readonly far: Socket;
  readonly relay: RemoteRelay;
  bytesUp(): number;
  bytesDown(): number;
}

export class Lanes {
  readonly #outside = new Set<Socket>();
  readonly #accepted = new Map<number, unknown>();
  #seen = 0;

  private constructor(
    readonly driver: Driver,
    readonly front: { listener: Remote; local: { port: number } },
    readonly back: Target,
  ) {}

  static async start(driver: Driver): Promise<Lanes> {
    const front = await driver.listen();
    if (typeof front === 'string') throw new Error(front);
    return new Lanes(driver, front, await Target.start());
  }

  /** `early` is what the player sends before the relay begins, read by the driver as a request would be. */
  async open(settings: Omit<RelaySettings, 'countAt'> = {}): Promise<Lane> {
    const { driver, front, back } = this;
    const player = connect({ port: front.local.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#track(player);
    await once(player, 'connect');
    const client = await this.#acceptedFrom(player.localPort ?? 0);
    const greeting = Buffer.concat([Buffer.from('hello'), settings.early ?? Buffer.alloc(0)]);
    player.write(greeting);
    await client.call('resume');
    const read = await client.data(greeting.length);
    await client.call('pause');
    const destination = await driver.connect({ address: '127.0.0.1', port: back.port });
    if (typeof destination === 'string') throw new Error(destination);
    const far = await back.connectionFrom(destination.local.port);
    const early = settings.early ? read.subarray('hello'.length) : null;
    return { player, far, ...(await driver.relay(client, destination, { ...settings, early })) };
  }

  /** Destroys what players and destinations still hold open. */
  hangUp(): void {
    for (const socket of this.#outside) socket.destroy();
  }

  async close(): Promise<void> {
    this.hangUp();
    this.back.close();
    await this.front.listener.call('close');
  }

  #track(socket: Socket): void {
    this.#outside.add(socket);
    socket.on('error', () => {}).once('close', () => this.#outside.delete(socket));
  }

  async #acceptedFrom(port: number): Promise<RemoteStream> {
    const connections = this.front.listener.events<{ peer: { port: number } }>('connection');
    for (;;) {
      for (; this.#seen < connections.length; this.#seen += 1) {
        const made = connections[this.#seen];
        if (made) this.#accepted.set(made.peer.port, made);
      }
      const made = this.#accepted.get(port);
      this.#accepted.delete(port);
      if (made) return this.driver.stream(made);
      await once(this.front.listener, 'event');
    }
  }
}
