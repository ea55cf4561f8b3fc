// Opens a connection through an upstream proxy: resolves its name, connects to it, and does the handshake.
import { type Endpoint, parseIp } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { Timer } from '../../core/time/timers.js';
import { dial } from '../connection/dial.js';
import type { Resolve, ResolveClient } from '../dns/messages.js';
import type { Attempt, Io, Stream, StreamListener } from '../io/io.js';
import { GREETED, type UpstreamExchange } from '../protocols/client-step.js';
import { HttpConnectClient } from '../protocols/http-connect-client.js';
import { Reply, type ReplyCode } from '../protocols/socks5.js';
import { type ClientCommand, Socks5Client } from '../protocols/socks5-client.js';
import { type ExitUse, leavingBy, type WorkerExits } from './exits.js';
import type { Upstream } from './rules.js';

export interface UpstreamRequest {
  readonly upstream: Upstream;
  /** Where the connection to the proxy leaves from; null: as the system chooses. */
  readonly exit: ExitUse | null;
  readonly command: ClientCommand;
  /** A name that the upstream proxy resolves, or an address. */
  readonly destination: { readonly host: string; readonly port: number };
  readonly client: ResolveClient;
  /** The proxy has connected. `ahead` is what followed its reply. The stream is paused; set its listener. */
  readonly onConnected: (stream: Stream, bound: Endpoint, ahead: Buffer | null, upstream: Upstream) => void;
  /** `reason` is for the log: a system error code, or the failure of the upstream proxy. */
  readonly onFailed: (reply: ReplyCode, reason: string) => void;
}

export interface UpstreamContext {
  readonly io: Io;
  readonly resolve: Resolve;
  readonly egress: EgressPolicy;
  readonly exits: Pick<WorkerExits, 'setUp'>;
  /** Time limit for connecting and the handshake together, in ms. */
  readonly connectTimeoutMs: number;
}

/** With it a proxy has only been connected to. */
const CONNECTION: UpstreamExchange = { feed() {}, next: () => GREETED };
const WITHOUT_UDP = 'upstream-without-udp';
/** Failures before a connection that say nothing about the proxy, and the reply of one that has no UDP (RFC 1928 §6). */
const NOT_OF_PROXY = /^(?:exit-|upstream-(?:without-udp|reply-7|resolve-|EADDRNOTAVAIL|EMFILE|ENFILE))/;
/** Failures after it that say nothing about the destination. */
const OF_PROXY = /^upstream-(?:protocol|method|login|reply-7)$/;

/**
 * Asks the first proxy in order that can be connected to, lets us in and has the command: what fails then may be the destination's
 * fault. `onFailed` may be called before it returns. No callback follows `cancel`.
 */
export function askUpstreams(
  request: Omit<UpstreamRequest, 'upstream'> & { readonly upstreams: readonly Upstream[] },
  context: UpstreamContext,
): Attempt {
  let running: Ask | null = null;
  const ask = (upstream: Upstream, others: readonly Upstream[]): void => {
    running = new Ask(
      {
        ...request,
        upstream,
        onConnected: (...connected) => {
          context.exits.setUp(upstream.id, true);
          request.onConnected(...connected);
        },
        onFailed: (reply, reason) => {
          const [next, ...rest] = others;
          const isReached = running?.isConnected === true && !OF_PROXY.test(reason);
          if (!isReached && !NOT_OF_PROXY.test(reason)) context.exits.setUp(upstream.id, false, reason);
          if (isReached || next === undefined) request.onFailed(reply, reason);
          else ask(next, rest);
        },
      },
      context,
    );
    running.start();
  };
  const [first, ...others] = request.upstreams;
  if (first === undefined) request.onFailed(Reply.generalFailure, 'upstream-none');
  else ask(first, others);
  return { cancel: () => running?.cancel() };
}

class Ask implements Attempt, StreamListener {
  readonly #request: UpstreamRequest;
  readonly #context: UpstreamContext;
  readonly #exchange: UpstreamExchange;
  #attempt: Attempt | null = null;
  #stream: Stream | null = null;
  #timer: Timer | null = null;
  #isOver = false;

  constructor(request: UpstreamRequest, context: UpstreamContext) {
    this.#request = request;
    this.#context = context;
    const { command, destination, upstream } = request;
    const { login } = upstream;
    this.#exchange =
      upstream.protocol === 'http'
        ? command === 'greet'
          ? CONNECTION
          : new HttpConnectClient({ destination, login })
        : new Socks5Client({ command, destination, login });
  }

  get isConnected(): boolean {
    return this.#stream !== null;
  }

  start(): void {
    const { upstream, client, command } = this.#request;
    if (command === 'associate' && upstream.protocol === 'http') {
      return this.#fail(Reply.commandNotSupported, WITHOUT_UDP);
    }
    if (parseIp(upstream.host) !== null) return this.#connect([upstream.host]);
    this.#context.resolve(upstream.host, client, (result) => {
      if (this.#isOver) return;
      if (result.ok) this.#connect(result.addresses);
      else this.#fail(Reply.generalFailure, `upstream-resolve-${result.reason}`);
    });
  }

  cancel(): void {
    this.#isOver = true;
    this.#attempt?.cancel();
    this.#timer?.clear();
    this.#stream?.close();
  }

  #connect(addresses: readonly string[]): void {
    const { io, egress, connectTimeoutMs } = this.#context;
    const { exit, upstream } = this.#request;
    const { port } = upstream;
    const leaving = leavingBy(exit, addresses);
    if (leaving.length === 0) return this.#fail(Reply.generalFailure, 'exit-without-family');
    const others = leaving.filter((address) => !isOwnListener(address, port, egress));
    // A rule that names this proxy as its own upstream would cause a loop.
    if (others.length === 0) return this.#fail(Reply.generalFailure, 'upstream-is-this-proxy');
    this.#timer = io.timer(connectTimeoutMs, () => this.#fail(Reply.ttlExpired, 'upstream-timeout'));
    this.#attempt = dial(io, {
      addresses: others,
      port,
      exit,
      timeoutMs: connectTimeoutMs,
      // A failure to reach the upstream proxy says nothing about the destination.
      onFailed: (code) => this.#fail(Reply.generalFailure, `upstream-${code}`),
      onConnected: (stream) => this.#secure(stream),
    });
  }

  /** Connections with TLS count as connected after its handshake: before it, they say nothing about the destination. */
  #secure(stream: Stream): void {
    const { tls } = this.#request.upstream;
    if (tls === null) return this.#begin(stream);
    this.#attempt = this.#context.io.secure(stream, tls, {
      onConnected: (secured) => this.#begin(secured),
      onFailed: (reason) => this.#fail(Reply.generalFailure, `upstream-tls-${reason}`),
    });
  }

  #begin(stream: Stream): void {
    this.#attempt = null;
    this.#stream = stream;
    stream.listener = this;
    stream.resume();
    this.#proceed();
  }

  onData(chunk: Buffer): void {
    this.#exchange.feed(Buffer.from(chunk));
    this.#proceed();
  }

  onEnd(): void {
    this.#fail(Reply.generalFailure, 'upstream-closed');
  }

  onFailed(): void {
    this.#fail(Reply.generalFailure, 'upstream-closed');
  }

  #proceed(): void {
    const stream = this.#stream;
    while (stream !== null && !this.#isOver) {
      const step = this.#exchange.next();
      if (step.kind === 'more') return;
      if (step.kind === 'send') stream.write(step.bytes);
      else if (step.kind === 'failed') this.#fail(step.reply, step.reason);
      else {
        this.#isOver = true;
        this.#timer?.clear();
        stream.pause();
        this.#request.onConnected(stream, step.bound, step.rest, this.#request.upstream);
      }
    }
  }

  #fail(reply: ReplyCode, reason: string): void {
    if (this.#isOver) return;
    this.cancel();
    this.#request.onFailed(reply, reason);
  }
}

function isOwnListener(address: string, port: number, egress: EgressPolicy): boolean {
  const ip = parseIp(address);
  if (ip === null) return false;
  const verdict = egress.judge({ host: null, ip, port });
  return !verdict.ok && verdict.reason === 'own-listener';
}
