// Two streams joined in the native loop. Small chunks are copied through one buffer (recv, send) at once; what fills that
// buffer is bulk, and goes by splice through a pipe, in turns: each visit to a direction moves a bounded share.
import type { Handed, HandedFlow, HandedPair } from '../handed.js';
import type { Relay, RelayEnd, RelayListener, RelayOptions } from '../io.js';
import type { AccountRates, FlowShare, QuotaHolder } from '../rates.js';
import { EAGAIN, EINTR, EPOLLERR } from './libc.js';
import type { Loop, Task } from './loop.js';
import type { Pipe, Pipes } from './pipes.js';
import { type NativeStream, READ_BYTES, readBuffer, type StreamRelay } from './stream.js';

/** One visit moves at most this; then other directions have their turn. */
const VISIT_BYTES = 1024 * 1024;
/** The same while small flows are active: what one of them may have to wait for. */
const SHORT_VISIT_BYTES = 64 * 1024;
/** Visits are short for so long after a small flow moved something. */
const SHORT_VISITS_MS = 20;
/** A direction that moved less than this in a visit is not bulk any more. */
const BULK_BYTES = 32 * 1024;

export interface RelayShared {
  readonly loop: Loop;
  readonly pipes: Pipes;
  /** When a flow that is not bulk last moved something. */
  smallFlowAt: number;
}

/** One direction of a relay. Thousands of idle sessions keep two of them each, so it has few fields. */
class Direction implements Task {
  /** Bytes that have been read from the source, or that the relay got at its start, and that are not sent yet. */
  pending: Buffer | null = null;
  /** Borrowed while bytes move through it. */
  pipe: Pipe | null = null;
  isBulk = false;
  isQueued = false;
  /**
   * `failed`: the source is gone, and what it sent before is moved in one last visit. `ended`: the source has sent FIN, and all
   * before it is taken. `done`: the FIN has been passed on.
   */
  state: 'open' | 'failed' | 'ended' | 'done' = 'open';
  share: FlowShare | null = null;

  constructor(
    readonly relay: NativeRelay,
    readonly from: NativeStream,
    readonly to: NativeStream,
    readonly countAt: number,
  ) {}

  /** The queued visit. */
  run(): void {
    this.isQueued = false;
    this.relay.visit(this);
  }
}

export class NativeRelay implements Relay, StreamRelay {
  readonly #shared: RelayShared;
  readonly #up: Direction;
  readonly #down: Direction;
  readonly #counts: Float64Array;
  readonly #account: QuotaHolder;
  readonly #listener: RelayListener;
  #inspect: RelayOptions['inspect'];
  #isOver = false;

  constructor(shared: RelayShared, client: NativeStream, destination: NativeStream, options: RelayOptions) {
    this.#shared = shared;
    this.#counts = options.counts;
    this.#account = options.account;
    this.#listener = options.listener;
    this.#inspect = options.inspect;
    this.#up = new Direction(this, client, destination, options.countAt);
    this.#down = new Direction(this, destination, client, options.countAt + 1);
    if (options.rates) this.setRates(options.rates);
    this.#down.pending = client.setRelay(this);
    this.#up.pending = destination.setRelay(this);
    if (options.early !== null) this.#takeEarly(options.early);
    if (options.handed) {
      this.#continue(this.#up, options.handed.up);
      this.#continue(this.#down, options.handed.down);
    }
    // Epoll is edge-triggered: what was ready before causes no further event.
    if (client.isReadable || this.#up.pending !== null) this.#queue(this.#up);
    if (destination.isReadable || this.#down.pending !== null) this.#queue(this.#down);
  }

  get isHalfClosed(): boolean {
    return (this.#up.state === 'done') !== (this.#down.state === 'done');
  }

  keepAlive(): void {
    this.#up.from.keepAlive();
    this.#down.from.keepAlive();
  }

  setRates(rates: AccountRates | null): void {
    this.#setShare(this.#up, rates?.up.join(() => this.visit(this.#up)) ?? null);
    this.#setShare(this.#down, rates?.down.join(() => this.visit(this.#down)) ?? null);
  }

  close(): void {
    if (this.#isOver) return;
    this.#finish();
  }

  handOver(): Handed<HandedPair> | null {
    if (this.#isOver) return null;
    const state = { up: this.#flowOf(this.#up), down: this.#flowOf(this.#down) };
    return { descriptors: [this.#up.from.fd, this.#down.from.fd], state };
  }

  #flowOf(direction: Direction): HandedFlow {
    if (direction.pipe !== null) this.#takeFromPipe(direction, direction.pipe);
    const { pending, share } = direction;
    return { unsent: pending?.toString('base64') ?? '', isCounted: share === null };
  }

  /** What the pipe holds becomes pending, as if it had been copied. */
  #takeFromPipe(direction: Direction, pipe: Pipe): void {
    const bytes = Buffer.allocUnsafe(pipe.held);
    const got = pipe.held === 0 ? 0 : this.#shared.loop.libc.readPipe(pipe.readEnd, bytes);
    if (got > 0) {
      direction.pending = bytes.subarray(0, got);
      pipe.held -= got;
      if (direction.share !== null) this.#count(direction, -got);
    }
    this.#returnPipe(direction);
  }

  #continue(direction: Direction, { unsent, isCounted }: HandedFlow): void {
    if (unsent === '') return;
    const pending = Buffer.from(unsent, 'base64');
    direction.pending = pending;
    const mustCount = direction.share === null;
    if (mustCount !== isCounted) this.#count(direction, mustCount ? pending.length : -pending.length);
    this.#queue(direction);
  }

  streamReady(stream: NativeStream, events: number): void {
    if (this.#isOver) return;
    const outgoing = stream === this.#up.from ? this.#up : this.#down;
    const incoming = outgoing === this.#up ? this.#down : this.#up;
    if (events & EPOLLERR) {
      this.#failed(stream);
      return;
    }
    if (stream.isReadable) this.#serve(outgoing);
    if (!this.#isOver && stream.isWritable) this.#serve(incoming);
  }

  /** Bulk flows wait for their turn, so that others need not wait for them. */
  #serve(direction: Direction): void {
    if (direction.isBulk) this.#queue(direction);
    else this.visit(direction);
  }

  #queue(direction: Direction): void {
    if (direction.isQueued) return;
    direction.isQueued = true;
    this.#shared.loop.later(direction);
  }

  /** Moves bytes of a direction until nothing more can move, or the bound of a visit is reached. */
  visit(direction: Direction): void {
    if (this.#isOver || direction.state === 'done') return;
    const { loop } = this.#shared;
    const isShort = direction.isBulk && loop.now() - this.#shared.smallFlowAt < SHORT_VISITS_MS;
    const allowed = isShort ? SHORT_VISIT_BYTES : VISIT_BYTES;
    let moved = 0;
    for (let step = 0; step >= 0; step = this.#step(direction, allowed - moved)) moved += step;
    this.#returnPipe(direction);
    if (moved >= BULK_BYTES) direction.isBulk = true;
    else if (moved > 0) {
      direction.isBulk = false;
      this.#shared.smallFlowAt = loop.now();
    }
  }

  /** Sends what is pending, or else reads at most about `most` bytes. Returns how many were read (0: some were sent); -1: none can move now. */
  #step(direction: Direction, most: number): number {
    if (this.#isOver) return -1;
    if (direction.pending !== null) return this.#sendPending(direction, direction.pending) ? 0 : -1;
    if (direction.pipe !== null && direction.pipe.held > 0)
      return this.#emptyPipe(direction, direction.pipe) ? 0 : -1;
    if (direction.state === 'ended') {
      this.#passOnEnd(direction);
      return -1;
    }
    if (!direction.from.isReadable || !direction.to.isWritable) return -1;
    if (most > 0) return this.#take(direction, most);
    this.#queue(direction);
    return -1;
  }

  /** Reads from the source: by splice while the flow is bulk, else through the buffer. Returns bytes, or -1: nothing now. */
  #take(direction: Direction, allowed: number): number {
    const { quota } = this.#account;
    // The worker is about to end the session.
    if (quota !== null && quota.left <= 0) return -1;
    const most = quota === null ? allowed : Math.min(allowed, quota.left);
    const isPlain = direction.share === null && (direction !== this.#up || this.#inspect === null);
    if (direction.isBulk && isPlain) {
      direction.pipe ??= this.#shared.pipes.acquire();
      if (direction.pipe !== null) return this.#splice(direction, direction.pipe, most);
    }
    return this.#copy(direction, quota === null ? READ_BYTES : Math.min(READ_BYTES, quota.left));
  }

  #splice(direction: Direction, pipe: Pipe, most: number): number {
    const { from } = direction;
    const got = this.#shared.loop.libc.spliceIn(from.fd, pipe.writeEnd, Math.min(most, pipe.bytes));
    if (got <= 0) return this.#noneTaken(direction, got);
    pipe.held = got;
    this.#count(direction, got);
    return got;
  }

  #copy(direction: Direction, most: number): number {
    const { from, to } = direction;
    const { libc } = this.#shared.loop;
    const got = libc.recv(from.fd, readBuffer, most);
    if (got <= 0) return this.#noneTaken(direction, got);
    if (got < most) {
      if (!from.mayReadShort) from.isReadable = false;
    } else direction.isBulk = true;
    const chunk = readBuffer.subarray(0, got);
    if (direction === this.#up && this.#inspect !== null && this.#isDenied(chunk)) return got;
    if (direction.share !== null) {
      direction.pending = Buffer.from(chunk);
      return got;
    }
    this.#count(direction, got);
    const sent = libc.send(to.fd, readBuffer, 0, got);
    if (sent === got) return got;
    if (sent < 0 && !this.#isAgain(to)) return -1;
    to.isWritable = false;
    direction.pending = Buffer.from(chunk.subarray(Math.max(0, sent)));
    return got;
  }

  #noneTaken(direction: Direction, got: number): number {
    const { from } = direction;
    if (got === 0) {
      direction.state = 'ended';
      from.isReadable = false;
      return 0;
    }
    const errno = this.#shared.loop.libc.errno();
    if (errno === EAGAIN) from.isReadable = false;
    else if (errno !== EINTR) this.#reset(from);
    return errno === EINTR ? 0 : -1;
  }

  /** Returns whether there is no more to send. */
  #sendPending(direction: Direction, pending: Buffer): boolean {
    const { to } = direction;
    if (!to.isWritable) return false;
    const wanted = direction.share === null ? pending.length : this.#takeShare(direction.share, pending);
    if (wanted === 0) return false;
    if (direction.share !== null) this.#count(direction, wanted);
    const sent = this.#shared.loop.libc.send(to.fd, pending, 0, wanted);
    if (sent < 0 && !this.#isAgain(to)) return false;
    const remaining = pending.length - Math.max(0, sent);
    if (direction.share !== null) this.#count(direction, Math.max(0, sent) - wanted);
    direction.pending = remaining === 0 ? null : pending.subarray(pending.length - remaining);
    if (sent < wanted) to.isWritable = false;
    return sent >= wanted;
  }

  /** How many of the pending bytes the rate and the quota permit now. */
  #takeShare(share: FlowShare, { length }: Buffer): number {
    const { quota } = this.#account;
    const left = quota === null ? length : Math.min(length, quota.left);
    return left <= 0 ? 0 : share.take(left);
  }

  #emptyPipe({ to }: Direction, pipe: Pipe): boolean {
    if (!to.isWritable) return false;
    const out = this.#shared.loop.libc.spliceOut(pipe.readEnd, to.fd, pipe.held);
    if (out > 0) pipe.held -= out;
    else if (out === 0) this.#end('relay-failed');
    else if (this.#isAgain(to)) to.isWritable = false;
    return out > 0 && !this.#isOver;
  }

  /** A call on `stream` failed: true when it was only not ready; else the relay is over. */
  #isAgain(stream: NativeStream): boolean {
    const errno = this.#shared.loop.libc.errno();
    if (errno === EAGAIN || errno === EINTR) return true;
    this.#failed(stream);
    return false;
  }

  #passOnEnd(direction: Direction): void {
    direction.state = 'done';
    direction.to.shutdown();
    const other = direction === this.#up ? this.#down : this.#up;
    // This direction ended second: the other's source closed first.
    if (other.state === 'done') this.#end(direction === this.#up ? 'destination-closed' : 'client-closed');
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
    this.#finish();
    this.#listener.relayEnded(end);
  }

  #finish(): void {
    this.#isOver = true;
    for (const direction of [this.#up, this.#down]) {
      direction.from.close();
      direction.pending = null;
      direction.share?.end();
      if (direction.pipe !== null && direction.pipe.held > 0) this.#shared.pipes.discard(direction.pipe);
      else this.#returnPipe(direction);
      direction.pipe = null;
    }
  }

  #isDenied(chunk: Uint8Array): boolean {
    const verdict = this.#inspect?.(chunk) ?? false;
    if (verdict === false) this.#inspect = null;
    return verdict === 'denied';
  }

  #takeEarly(early: Buffer): void {
    if (this.#isDenied(early)) return;
    if (this.#up.share === null) this.#count(this.#up, early.length);
    this.#up.pending = this.#up.pending === null ? early : Buffer.concat([this.#up.pending, early]);
  }

  #setShare(direction: Direction, share: FlowShare | null): void {
    const hadShare = direction.share !== null;
    direction.share?.end();
    direction.share = share;
    // Pending bytes count when they are sent if there is a rate, and when they are read if there is none.
    if (direction.pending !== null && hadShare !== (share !== null)) {
      this.#count(direction, share === null ? direction.pending.length : -direction.pending.length);
    }
    if (hadShare && share === null) this.#queue(direction);
  }

  #returnPipe(direction: Direction): void {
    if (direction.pipe === null || direction.pipe.held > 0) return;
    this.#shared.pipes.release(direction.pipe);
    direction.pipe = null;
  }

  #count(direction: Direction, bytes: number): void {
    this.#account.quota?.spend(bytes);
    this.#counts[direction.countAt] = (this.#counts[direction.countAt] ?? 0) + bytes;
  }
}
