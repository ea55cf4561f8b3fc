// One direction of a relay: moves bytes, counts them, and says why it stopped. Small chunks are copied through one buffer (recv, send)
// at once; what fills that buffer is bulk, and goes by splice through a pipe, in turns: each visit moves a bounded share.
import type { HandedFlow } from '../handed.js';
import type { RelayOptions } from '../io.js';
import { count, type FlowShare, type Meter } from '../rates.js';
import { EAGAIN, EINTR, type Libc } from './libc.js';
import type { Loop, Task } from './loop.js';
import type { Pipe, Pipes } from './pipes.js';
import { type NativeStream, READ_BYTES, readBuffer } from './stream.js';

/** One visit moves at most this; then other directions have their turn. */
const VISIT_BYTES = 1024 * 1024;
/** The same while small flows are active: what one of them may have to wait for. */
const SHORT_VISIT_BYTES = 64 * 1024;
/** Visits are short for so long after a small flow moved something. */
const SHORT_VISITS_MS = 20;
/** A direction that moved less than this in a visit is not bulk any more. */
const BULK_BYTES = 32 * 1024;

/** What the flows of a worker share. */
export interface RelayShared {
  readonly loop: Loop;
  readonly pipes: Pipes;
  /** When a flow that is not bulk last moved something. */
  smallFlowAt: number;
}

/** Why a visit stopped. Negative: a step returns one of these, or the number of bytes that it has read. */
export const Stop = {
  /** Nothing can move now. An event follows, or the turn of its rate. */
  waiting: -1,
  /** It has moved what one visit may move. */
  bounded: -2,
  /** The source has sent FIN, and all before it is sent. */
  ended: -3,
  sourceFailed: -4,
  destinationFailed: -5,
  pipeFailed: -6,
} as const;

/** Thousands of idle sessions keep two of them each, so it has few fields, and no method with `#`, for which V8 marks each object. */
export class Flow implements Task {
  /** Bytes that have been read from the source, or that the relay got at its start, and that are not sent yet. */
  pending: Buffer | null = null;
  /** Borrowed while bytes move through it. */
  #pipe: Pipe | null = null;
  isBulk = false;
  #isQueued = false;
  /**
   * `failed`: the source is gone, and what it sent before is moved at once. `ended`: the source has sent FIN, and all
   * before it is taken. `done`: the FIN has been passed on. `closed`: the relay is over.
   */
  state: 'open' | 'failed' | 'ended' | 'done' | 'closed' = 'open';
  #share: FlowShare | null = null;
  #inspect: RelayOptions['inspect'];

  /** @param relay lets it move when its turn in the loop's queue has come */
  constructor(
    private readonly relay: { visit(flow: Flow): void },
    readonly from: NativeStream,
    readonly to: NativeStream,
    private readonly meter: Meter,
    private readonly countAt: number,
    inspect: RelayOptions['inspect'],
  ) {
    this.#inspect = inspect;
  }

  /** What the client sent before the relay began goes to the destination first. */
  begin(early: Buffer): void {
    if (this.isDenied(early)) return;
    if (this.#share === null) count(this.meter, this.countAt, early.length);
    this.pending = this.pending === null ? early : Buffer.concat([this.pending, early]);
  }

  queue({ loop }: RelayShared): void {
    if (!this.#isQueued) loop.later(this);
    this.#isQueued = true;
  }

  run(): void {
    this.#isQueued = false;
    this.relay.visit(this);
  }

  /** @param share of a rate; null: it need not wait */
  setShare(share: FlowShare | null, shared: RelayShared): void {
    const hadShare = this.#share !== null;
    this.#share?.end();
    this.#share = share;
    // Pending bytes count when they are sent if there is a rate, and when they are read if there is none.
    if (this.pending !== null && hadShare !== (share !== null))
      count(this.meter, this.countAt, share === null ? this.pending.length : -this.pending.length);
    if (hadShare && share === null) this.queue(shared);
  }

  /** Moves bytes until nothing more can move, or the bound of a visit is reached. Returns a `Stop`. */
  move(shared: RelayShared): number {
    const { loop } = shared;
    const isShort = this.isBulk && loop.now() - shared.smallFlowAt < SHORT_VISITS_MS;
    const allowed = isShort ? SHORT_VISIT_BYTES : VISIT_BYTES;
    let moved = 0;
    let step = 0;
    for (; step >= 0; step = this.step(shared, allowed - moved)) moved += step;
    this.returnPipe(shared.pipes);
    if (moved >= BULK_BYTES) this.isBulk = true;
    else if (moved > 0) {
      this.isBulk = false;
      shared.smallFlowAt = loop.now();
    }
    return step;
  }

  /** Sends what is pending, or else reads at most about `most` bytes. Returns how many were read (0: some were sent), or a `Stop`. */
  private step(shared: RelayShared, most: number): number {
    const { libc } = shared.loop;
    if (this.pending !== null) return this.sendPending(libc, this.pending);
    if (this.#pipe !== null && this.#pipe.held > 0) return this.emptyPipe(libc, this.#pipe);
    if (this.state === 'ended') return Stop.ended;
    if (!this.from.isReadable || !this.to.isWritable) return Stop.waiting;
    return most > 0 ? this.take(shared, most) : Stop.bounded;
  }

  /** Reads from the source: by splice while the flow is bulk, else through the buffer. */
  private take({ loop, pipes }: RelayShared, allowed: number): number {
    const { quota } = this.meter.account;
    // The worker is about to end the session.
    if (quota !== null && quota.left <= 0) return Stop.waiting;
    if (this.isBulk && this.#share === null && this.#inspect === null) {
      this.#pipe ??= pipes.acquire();
      const most = quota === null ? allowed : Math.min(allowed, quota.left);
      if (this.#pipe !== null) return this.splice(loop.libc, this.#pipe, most);
    }
    return this.copy(loop.libc, quota === null ? READ_BYTES : Math.min(READ_BYTES, quota.left));
  }

  private splice(libc: Libc, pipe: Pipe, most: number): number {
    const got = libc.spliceIn(this.from.fd, pipe.writeEnd, Math.min(most, pipe.bytes));
    if (got <= 0) return this.noneTaken(libc, got);
    pipe.held = got;
    count(this.meter, this.countAt, got);
    return got;
  }

  private copy(libc: Libc, most: number): number {
    const { from, to } = this;
    const got = libc.recv(from.fd, readBuffer, most);
    if (got <= 0) return this.noneTaken(libc, got);
    if (got < most) {
      if (!from.mayReadShort) from.isReadable = false;
    } else this.isBulk = true;
    if (this.#inspect !== null && this.isDenied(readBuffer.subarray(0, got))) return got;
    if (this.#share !== null) {
      this.pending = copyOf(0, got);
      return got;
    }
    count(this.meter, this.countAt, got);
    const sent = libc.send(to.fd, readBuffer, 0, got);
    if (sent === got) return got;
    if (sent < 0 && !isAgain(libc)) return Stop.destinationFailed;
    to.isWritable = false;
    this.pending = copyOf(Math.max(0, sent), got);
    return got;
  }

  private noneTaken(libc: Libc, got: number): number {
    const { from } = this;
    if (got === 0) {
      this.state = 'ended';
      from.isReadable = false;
      return 0;
    }
    const errno = libc.errno();
    if (errno === EINTR) return 0;
    if (errno !== EAGAIN) return Stop.sourceFailed;
    from.isReadable = false;
    return Stop.waiting;
  }

  private sendPending(libc: Libc, pending: Buffer): number {
    const { to } = this;
    const share = this.#share;
    if (!to.isWritable) return Stop.waiting;
    const wanted = share === null ? pending.length : this.takeShare(share, pending);
    if (wanted === 0) return Stop.waiting;
    if (share !== null) count(this.meter, this.countAt, wanted);
    const result = libc.send(to.fd, pending, 0, wanted);
    if (result < 0 && !isAgain(libc)) return Stop.destinationFailed;
    const sent = Math.max(0, result);
    if (share !== null) count(this.meter, this.countAt, sent - wanted);
    this.pending = sent === pending.length ? null : pending.subarray(sent);
    if (sent >= wanted) return 0;
    to.isWritable = false;
    return Stop.waiting;
  }

  /** How many of the pending bytes the rate and the quota permit now. */
  private takeShare(share: FlowShare, { length }: Buffer): number {
    const { quota } = this.meter.account;
    const left = quota === null ? length : Math.min(length, quota.left);
    return left <= 0 ? 0 : share.take(left);
  }

  private emptyPipe(libc: Libc, pipe: Pipe): number {
    const { to } = this;
    if (!to.isWritable) return Stop.waiting;
    const out = libc.spliceOut(pipe.readEnd, to.fd, pipe.held);
    if (out === 0) return Stop.pipeFailed;
    if (out < 0) {
      if (!isAgain(libc)) return Stop.destinationFailed;
      to.isWritable = false;
      return Stop.waiting;
    }
    pipe.held -= out;
    return 0;
  }

  private returnPipe(pipes: Pipes): void {
    if (this.#pipe === null || this.#pipe.held > 0) return;
    pipes.release(this.#pipe);
    this.#pipe = null;
  }

  private isDenied(chunk: Uint8Array): boolean {
    const verdict = this.#inspect?.(chunk) ?? false;
    if (verdict === false) this.#inspect = null;
    return verdict === 'denied';
  }

  handOver({ loop, pipes }: RelayShared): HandedFlow {
    if (this.#pipe !== null && this.#pipe.held > 0) this.takeFromPipe(loop.libc, this.#pipe);
    this.returnPipe(pipes);
    return { unsent: this.pending?.toString('base64') ?? '', isCounted: this.#share === null };
  }

  /** What the pipe holds becomes pending, as if it had been copied. */
  private takeFromPipe(libc: Libc, pipe: Pipe): void {
    const bytes = Buffer.allocUnsafe(pipe.held);
    const got = libc.readPipe(pipe.readEnd, bytes);
    if (got <= 0) return;
    this.pending = bytes.subarray(0, got);
    pipe.held -= got;
    if (this.#share !== null) count(this.meter, this.countAt, -got);
  }

  continue({ unsent, isCounted }: HandedFlow): void {
    if (unsent === '') return;
    this.pending = Buffer.from(unsent, 'base64');
    const mustCount = this.#share === null;
    if (mustCount !== isCounted)
      count(this.meter, this.countAt, mustCount ? this.pending.length : -this.pending.length);
  }

  /** Closes its source, and drops what is not sent. */
  close(pipes: Pipes): void {
    this.state = 'closed';
    this.from.close();
    this.pending = null;
    this.#share?.end();
    if (this.#pipe !== null && this.#pipe.held > 0) pipes.discard(this.#pipe);
    else this.returnPipe(pipes);
    this.#pipe = null;
  }
}

/** A copy of what has been read, from `start` to `end`. */
const copyOf = (start: number, end: number): Buffer => Buffer.from(readBuffer.subarray(start, end));

/** Whether a call failed because its socket is not ready. */
function isAgain(libc: Libc): boolean {
  const errno = libc.errno();
  return errno === EAGAIN || errno === EINTR;
}
