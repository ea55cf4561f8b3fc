// Two streams joined in the native loop by a flow in each direction: which of them moves when, and what the end or the failure of one
// stream means for the other.
import type { Handed, HandedPair } from '../handed.js';
import type { Relay, RelayEnd, RelayListener, RelayOptions } from '../io.js';
import type { AccountRates } from '../rates.js';
import { Flow, type RelayShared, Stop } from './flow.js';
import { EPOLLERR } from './libc.js';
import type { NativeStream, StreamRelay } from './stream.js';

export class NativeRelay implements Relay, StreamRelay {
  readonly #shared: RelayShared;
  readonly #up: Flow;
  readonly #down: Flow;
  readonly #listener: RelayListener;

  constructor(shared: RelayShared, client: NativeStream, destination: NativeStream, options: RelayOptions) {
    const { meter, early, inspect, handed } = options;
    const { rates, countAt } = meter;
    this.#shared = shared;
    this.#listener = options.listener;
    this.#up = new Flow(this, client, destination, meter, countAt, inspect);
    this.#down = new Flow(this, destination, client, meter, countAt + 1, null);
    if (rates) this.setRates(rates);
    this.#down.pending = client.setRelay(this);
    this.#up.pending = destination.setRelay(this);
    if (early !== null) this.#up.begin(early);
    if (handed) {
      this.#up.continue(handed.up);
      this.#down.continue(handed.down);
    }
    // Epoll is edge-triggered: what was ready before causes no further event.
    if (client.isReadable || this.#up.pending !== null) this.#up.queue(shared);
    if (destination.isReadable || this.#down.pending !== null) this.#down.queue(shared);
  }

  get isHalfClosed(): boolean {
    return (this.#up.state === 'done') !== (this.#down.state === 'done');
  }

  get #isOver(): boolean {
    return this.#up.state === 'closed';
  }

  keepAlive(): void {
    this.#up.from.keepAlive();
    this.#down.from.keepAlive();
  }

  setRates(rates: AccountRates | null): void {
    this.#up.setShare(rates?.up.join(() => this.visit(this.#up)) ?? null, this.#shared);
    this.#down.setShare(rates?.down.join(() => this.visit(this.#down)) ?? null, this.#shared);
  }

  handOver(): Handed<HandedPair> | null {
    if (this.#isOver) return null;
    const state = { up: this.#up.handOver(this.#shared), down: this.#down.handOver(this.#shared) };
    return { descriptors: [this.#up.from.fd, this.#down.from.fd], state };
  }

  streamReady(stream: NativeStream, events: number): void {
    if (this.#isOver) return;
    const outgoing = stream === this.#up.from ? this.#up : this.#down;
    const incoming = outgoing === this.#up ? this.#down : this.#up;
    if (events & EPOLLERR) return this.#failed(stream);
    if (stream.isReadable) this.#serve(outgoing);
    if (!this.#isOver && stream.isWritable) this.#serve(incoming);
  }

  /** Bulk flows wait for their turn, so that others need not wait for them. */
  #serve(flow: Flow): void {
    if (flow.isBulk) flow.queue(this.#shared);
    else this.visit(flow);
  }

  visit(flow: Flow): void {
    if (this.#isOver || flow.state === 'done') return;
    let stop = flow.move(this.#shared);
    // At most what the buffer of the failed source holds.
    while (stop === Stop.bounded && flow.state === 'failed') stop = flow.move(this.#shared);
    if (stop === Stop.bounded) flow.queue(this.#shared);
    else if (stop === Stop.ended) this.#passOnEnd(flow);
    else if (stop === Stop.sourceFailed) this.#reset(flow.from);
    else if (stop === Stop.destinationFailed) this.#failed(flow.to);
    else if (stop === Stop.pipeFailed) this.#end('relay-failed');
  }

  #passOnEnd(flow: Flow): void {
    flow.state = 'done';
    flow.to.shutdown();
    const other = flow === this.#up ? this.#down : this.#up;
    // This direction ended second: the other's source closed first.
    if (other.state === 'done') this.#end(flow === this.#up ? 'destination-closed' : 'client-closed');
  }

  /** `stream` is gone. What it sent before that is still to be read: the answer of a server that refuses an upload. */
  #failed(stream: NativeStream): void {
    const outgoing = stream === this.#up.from ? this.#up : this.#down;
    if (outgoing.state === 'open') {
      outgoing.state = 'failed';
      stream.isReadable = true;
      stream.mayReadShort = true;
      this.visit(outgoing);
    }
    this.#reset(stream);
  }

  /** `stream` is gone: resets the other side, so that its program does not take a broken transfer for a complete one. */
  #reset(stream: NativeStream): void {
    if (this.#isOver) return;
    const isClient = stream === this.#up.from;
    const other = isClient ? this.#down.from : this.#up.from;
    other.reset();
    this.#end(isClient ? 'client-reset' : 'destination-reset');
  }

  #end(end: RelayEnd): void {
    if (this.#isOver) return;
    this.close();
    this.#listener.relayEnded(end);
  }

  close(): void {
    if (this.#isOver) return;
    this.#up.close(this.#shared.pipes);
    this.#down.close(this.#shared.pipes);
  }
}
