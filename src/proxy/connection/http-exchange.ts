// One HTTP request in absolute form and its response: rewrites both headers and forwards the bodies, with back-pressure and
// the rates of the account. The session uses it like a relay.
import type { Relay, RelayEnd, Stream, StreamListener } from '../io/io.js';
import { type AccountRates, count, type FlowShare, type Meter, type SharedRate } from '../io/rates.js';
import { BodyReader } from '../protocols/http/body.js';
import type { ForwardedRequest } from '../protocols/http/forward.js';
import type { HeadLimits } from '../protocols/http/head.js';
import { ResponseReader } from '../protocols/http/response.js';

/** Maximum size of one write, so that a stream keeps no more than this for a peer that does not read. */
const WRITE_BYTES = 16 * 1024;

export interface ExchangeOptions {
  readonly meter: Meter;
  readonly client: Stream;
  readonly destination: Stream;
  readonly request: ForwardedRequest;
  /** What the client has sent after the header of its request. */
  readonly early: Buffer | null;
  readonly limits: HeadLimits;
  /** As for a relay, see io.ts. */
  readonly inspect: ((chunk: Uint8Array) => boolean) | null;
  /** Called once, unless `close` was called before. */
  readonly onOver: (outcome: ExchangeOutcome) => void;
}

export type ExchangeOutcome = { readonly end: RelayEnd } & (
  | /** The response has been sent. `rest`: what the client sent after its request; null: close the client's connection. */
  { readonly kind: 'answered'; readonly rest: Buffer | null }
  /** The destination sent no response or no valid HTTP; nothing has been sent to the client. */
  | { readonly kind: 'no-answer' }
  /** The body of the request is malformed; nothing has been sent to the client. */
  | { readonly kind: 'malformed' }
  /** The exchange failed after it had sent bytes to the client; both streams are closed. */
  | { readonly kind: 'cut-off' }
);

export class HttpExchange implements Relay {
  readonly #requestBody: BodyReader;
  readonly #response: ResponseReader;
  readonly #up: Flow;
  readonly #down: Flow;
  #inspect: ExchangeOptions['inspect'];
  /** Bytes of the client's next request. */
  #rest: Buffer[] = [];
  #hasClientEnded = false;
  #isOver = false;

  constructor(private readonly options: ExchangeOptions) {
    const { client, destination, request, limits, meter } = options;
    this.#inspect = options.inspect;
    this.#requestBody = new BodyReader(request.framing, limits.maxHeaderBytes);
    this.#response = new ResponseReader(request, limits);
    this.#up = new Flow(client, destination, meter, meter.countAt);
    this.#down = new Flow(destination, client, meter, meter.countAt + 1);
  }

  /** @param ahead what the destination has already sent */
  start(ahead: Buffer | null): void {
    const { client, destination, request, early, meter } = this.options;
    client.listener = this.#client;
    destination.listener = this.#destination;
    this.setRates(meter.rates);
    this.#send(request.head);
    if (early !== null) this.#fromClient(early);
    if (ahead !== null && !this.#isOver) this.#fromDestination(ahead);
    if (!this.#isOver) this.#up.pump();
    if (!this.#isOver) this.#down.pump();
  }

  /** The client has ended its side and waits for its answer. */
  get isHalfClosed(): boolean {
    return this.#hasClientEnded;
  }

  keepAlive(): void {
    this.options.client.keepAlive();
    this.options.destination.keepAlive();
  }

  setRates(rates: AccountRates | null): void {
    this.#up.setRate(rates?.up ?? null);
    this.#down.setRate(rates?.down ?? null);
  }

  close(): void {
    this.#stop();
    this.options.client.close();
    this.options.destination.close();
  }

  readonly #client: StreamListener = {
    onData: (chunk) => this.#fromClient(Buffer.from(chunk)),
    onEnd: () => {
      this.#hasClientEnded = true;
      if (!this.#requestBody.isDone) this.#cutOff('client-closed');
    },
    onFailed: () => this.#cutOff('client-reset'),
    onDrain: () => this.#down.pump(),
  };

  readonly #destination: StreamListener = {
    onData: (chunk) => this.#fromDestination(Buffer.from(chunk)),
    onEnd: () => {
      if (this.#response.mayEnd) this.#answered();
      else this.#failed('destination-closed');
    },
    onFailed: () => this.#failed('destination-reset'),
    onDrain: () => this.#up.pump(),
  };

  #fromClient(bytes: Buffer): void {
    const taken = this.#requestBody.take(bytes);
    if (taken === null) return this.#failed('client-closed', 'malformed');
    if (taken > 0) this.#send(bytes.subarray(0, taken));
    if (taken === bytes.length) return;
    this.#rest.push(bytes.subarray(taken));
    // The next request waits in the system's buffers until this one is answered.
    this.#up.isReading = false;
    this.options.client.pause();
  }

  /** To the destination. */
  #send(bytes: Buffer): void {
    if (this.#inspect !== null && !this.#inspect(bytes)) this.#inspect = null;
    this.#up.push(bytes);
  }

  #fromDestination(bytes: Buffer): void {
    const result = this.#response.feed(bytes);
    if (result.kind === 'malformed') return this.#failed('relay-failed');
    if (result.bytes !== null) this.#down.push(result.bytes);
    if (this.#response.isDone) this.#answered();
  }

  #answered(): void {
    this.#down.onEmpty = () => {
      const isKept = this.#response.isKept && this.#requestBody.isDone && !this.#hasClientEnded;
      this.#stop();
      this.options.destination.close();
      const rest = isKept ? Buffer.concat(this.#rest) : null;
      this.options.onOver({ kind: 'answered', end: 'destination-closed', rest });
    };
    this.#down.isReading = false;
    this.options.destination.pause();
    this.#down.pump();
  }

  #failed(end: RelayEnd, kind: 'no-answer' | 'malformed' = 'no-answer'): void {
    if (this.#response.hasBegun) return this.#cutOff(end);
    this.#stop();
    this.options.destination.close();
    this.options.onOver({ kind, end });
  }

  #cutOff(end: RelayEnd): void {
    if (this.#isOver) return;
    this.close();
    this.options.onOver({ kind: 'cut-off', end });
  }

  #stop(): void {
    this.#isOver = true;
    this.#up.stop();
    this.#down.stop();
    this.options.client.pause();
  }
}

/** One direction: the bytes to forward from one stream to the other. */
class Flow {
  /** Whether `from` is read when there is room. */
  isReading = true;
  onEmpty: (() => void) | null = null;
  #waiting: Buffer | null = null;
  #share: FlowShare | null = null;
  #isStopped = false;

  constructor(
    readonly from: Stream,
    readonly to: Stream,
    readonly meter: Meter,
    readonly countAt: number,
  ) {}

  push(bytes: Buffer): void {
    this.#waiting = this.#waiting === null ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.pump();
  }

  setRate(rate: SharedRate | null): void {
    this.#share?.end();
    this.#share = rate?.join(() => this.pump()) ?? null;
  }

  stop(): void {
    this.#isStopped = true;
    this.#share?.end();
    this.#waiting = null;
  }

  /** Writes as much as is allowed now; continues reading when all is written. */
  pump(): void {
    while (this.#waiting !== null && !this.#isStopped) {
      const { quota } = this.meter.account;
      const wanted = Math.min(WRITE_BYTES, this.#waiting.length, quota?.left ?? WRITE_BYTES);
      const bytes = this.to.isBlocked || wanted <= 0 ? 0 : (this.#share?.take(wanted) ?? wanted);
      if (bytes === 0) return this.from.pause();
      count(this.meter, this.countAt, bytes);
      this.to.write(this.#waiting.subarray(0, bytes));
      this.#waiting = bytes === this.#waiting.length ? null : this.#waiting.subarray(bytes);
    }
    if (this.#isStopped) return;
    if (this.onEmpty !== null && !this.to.isBlocked) return this.onEmpty();
    if (this.isReading) this.from.resume();
  }
}
