// The relay of the node engine: writes the data of each of two sockets to the other, with back-pressure.
import type { Socket } from 'node:net';
import type { Relay, RelayEnd, RelayListener, RelayOptions, Stream } from '../io.js';
import { type AccountRates, count, type FlowShare, type Meter, type SharedRate } from '../rates.js';
import { NodeStream, setKeepAlive } from './stream.js';

/** One direction: forwards bytes from one socket to the other, and then the FIN. */
class Direction {
  /** The FIN has been passed on. */
  isDone = false;
  /** The FIN has arrived; bytes before it may still be held. */
  hasEnded = false;
  /** Bytes that are read and not yet written, because `to` is blocked or the rate does not permit more. */
  #held: Buffer | null;
  #inspect: RelayOptions['inspect'];
  #share: FlowShare | null = null;

  /** @param onDone called before the FIN is passed on */
  constructor(
    readonly from: Socket,
    readonly to: Socket,
    early: Buffer | null,
    private readonly meter: Meter,
    private readonly countAt: number,
    inspect: RelayOptions['inspect'],
    private readonly onDone: () => void,
  ) {
    this.#held = early;
    this.#inspect = inspect;
    to.on('drain', this.#pump);
    from.on('data', (chunk: Buffer) => {
      this.#held = chunk;
      this.#pump();
    });
  }

  start(): void {
    const { from } = this;
    // A FIN from before the relay began causes no further event.
    if (from.closed) process.nextTick(() => from.emit('close'));
    else if (from.readableEnded) process.nextTick(this.#onEnd);
    else from.on('end', this.#onEnd);
    this.#pump();
  }

  setRate(rate: SharedRate | null): void {
    this.#share?.end();
    this.#share = rate?.join(this.#pump) ?? null;
    if (this.#held !== null) this.#pump();
  }

  close(): void {
    this.#share?.end();
    this.#share = null;
    this.#held = null;
  }

  /** Called even while `from` is paused. */
  readonly #onEnd = (): void => {
    this.hasEnded = true;
    this.#pump();
  };

  /** Writes held bytes as far as permitted now, and continues reading when all are written. */
  readonly #pump = (): void => {
    const { from, to } = this;
    while (this.#held !== null) {
      const { length } = this.#held;
      const { quota } = this.meter.account;
      const most = quota === null ? length : Math.min(length, quota.left);
      const bytes = to.writableNeedDrain || most <= 0 ? 0 : (this.#share?.take(most) ?? most);
      if (bytes === 0) {
        from.pause();
        return;
      }
      const chunk = bytes === length ? this.#held : this.#held.subarray(0, bytes);
      this.#held = bytes === length ? null : this.#held.subarray(bytes);
      if (this.#isDenied(chunk)) continue;
      count(this.meter, this.countAt, bytes);
      to.write(chunk);
    }
    if (this.hasEnded) this.#finish();
    else if (to.writableNeedDrain) from.pause();
    else from.resume();
  };

  #isDenied(chunk: Buffer): boolean {
    const verdict = this.#inspect?.(chunk) ?? false;
    if (verdict === false) this.#inspect = null;
    return verdict === 'denied';
  }

  #finish(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.onDone();
    this.to.end();
  }
}

class NodeRelay implements Relay {
  readonly #client: Socket;
  readonly #destination: Socket;
  readonly #up: Direction;
  readonly #down: Direction;
  readonly #listener: RelayListener;
  #end: RelayEnd | null = null;
  #socketsOpen = 2;

  constructor(options: RelayOptions) {
    const { client, destination, early, inspect, meter } = options;
    this.#client = socketOf(client);
    this.#destination = socketOf(destination);
    this.#listener = options.listener;
    this.#up = new Direction(this.#client, this.#destination, early, meter, meter.countAt, inspect, () =>
      this.#orderly('client-closed'),
    );
    this.#down = new Direction(this.#destination, this.#client, null, meter, meter.countAt + 1, null, () =>
      this.#orderly('destination-closed'),
    );
    for (const [direction, back, end, reset] of [
      [this.#up, this.#down, 'client-closed', 'client-reset'],
      [this.#down, this.#up, 'destination-closed', 'destination-reset'],
    ] as const) {
      direction.from.on('error', () => this.#failed(direction, reset));
      direction.from.on('close', () => this.#closed(direction, back, end));
    }
    this.#setRates(meter.rates);
  }

  get isHalfClosed(): boolean {
    return this.#up.isDone !== this.#down.isDone && this.#socketsOpen > 0;
  }

  start(): void {
    this.#up.start();
    this.#down.start();
  }

  keepAlive(): void {
    for (const socket of [this.#client, this.#destination]) setKeepAlive(socket);
  }

  setRates(rates: AccountRates | null): void {
    if (this.#socketsOpen > 0) this.#setRates(rates);
  }

  close(): void {
    // A closed relay reports nothing.
    this.#socketsOpen = 0;
    this.#shut();
  }

  #setRates(rates: AccountRates | null): void {
    this.#up.setRate(rates?.up ?? null);
    this.#down.setRate(rates?.down ?? null);
  }

  #orderly(end: RelayEnd): void {
    this.#end ??= end;
  }

  /** A failure after a FIN still counts; a second failure is a consequence of the first. */
  #failed({ from, to }: Direction, reset: RelayEnd): void {
    if (this.#end !== 'client-reset' && this.#end !== 'destination-reset') this.#end = reset;
    this.#up.close();
    this.#down.close();
    from.destroy();
    // Resets the other side too. Unix sockets have no reset, and libuv sends none after a FIN.
    if (to.writableEnded || to.remoteAddress === undefined) to.destroy();
    else to.resetAndDestroy();
  }

  /**
   * A socket closes by itself after both FINs; bytes that it sent may still be held then. A socket that closes earlier closes
   * the other too.
   */
  #closed(direction: Direction, back: Direction, end: RelayEnd): void {
    if (this.#socketsOpen === 0) return;
    this.#end ??= end;
    this.#socketsOpen -= 1;
    if (!direction.hasEnded || !back.isDone) direction.to.destroy();
    if (this.#socketsOpen > 0) return;
    this.#shut();
    this.#listener.relayEnded(this.#end);
  }

  #shut(): void {
    this.#up.close();
    this.#down.close();
    this.#client.destroy();
    this.#destination.destroy();
  }
}

export function relay(options: RelayOptions): Relay {
  const relay = new NodeRelay(options);
  relay.start();
  return relay;
}

function socketOf(stream: Stream): Socket {
  if (!(stream instanceof NodeStream)) throw new TypeError('not a stream of the node engine');
  return stream.release();
}
