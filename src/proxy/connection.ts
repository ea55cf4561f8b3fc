// One connection of a player, from its first byte to its end, as one state machine:
//
//   PROXY header? → handshake (methods, login, request) → authorize → command
//
//   CONNECT (connect-command.ts): resolve → dial → relayed.ts
//   BIND (bind-command.ts): resolve → wait for the peer → relayed.ts
//   UDP ASSOCIATE: udp/
//   HTTP in absolute form (http-exchange.ts): like CONNECT, but exchanged, and back to the handshake
//
// Every way it can fail ends in `refuse` (a last frame, then closed) or in `close`. Once it is relayed, relayed.ts takes
// its place.
import { isExpired } from '../core/accounts/account.js';
import type { EgressPolicy } from '../core/egress/egress.js';
import { formatHostPort } from '../core/ip.js';
import type { ClientProtocolName } from '../core/sessions/session.js';
import { sourceOf } from '../core/source.js';
import type { Account } from './account.js';
import { startBind } from './bind-command.js';
import type { CommandConnection } from './command.js';
import { startConnect } from './connect-command.js';
import type { ConnectionContext } from './context.js';
import type { PayloadInspector } from './game-watch.js';
import { HttpExchange } from './http-exchange.js';
import type { Attempt, Endpoint, RelayOwner, Stream, StreamListener, Timer } from './io/io.js';
import type { ClientProtocol } from './protocols/client-protocol.js';
import type { ClientRequest } from './protocols/client-request.js';
import { protocolOf } from './protocols/first-byte.js';
import type { ForwardedRequest } from './protocols/http/forward.js';
import { HttpProxy } from './protocols/http/http-proxy.js';
import { parseProxyHeader, UNIX_CLIENT } from './protocols/proxy-header.js';
import { METHODS_REFUSED, Reply, type ReplyCode } from './protocols/socks5.js';
import { Relayed, type RelayedHost } from './relayed.js';
import type { Session, SessionEnd, SessionOwner } from './session.js';
import { associate } from './udp/associate.js';

/** How long a refused client may take to close its side, in ms. */
const LINGER_MS = 1_000;
/** What may wait for a PROXY header to be complete; more is malformed anyway. */
const MAX_HEADER_BYTES = 8 * 1024;
const NOTHING = new Uint8Array(0);
/** What a client of BIND may send before its peer is there, in bytes; one that sends more is refused. */
const MAX_EARLY_BYTES = 64 * 1024;

/** What is known of a connection by the listener it came to. */
export interface Arrival {
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
  /** Connections come from our own thread for TLS, whose PROXY header is believed. */
  readonly isFromTls: boolean;
  readonly isUnix: boolean;
  readonly protocols: readonly ClientProtocolName[];
}

/** A connection that another worker has read so far. */
export interface Resumed {
  readonly client: Endpoint;
  readonly isProxied: boolean;
  readonly bytes: Buffer;
}

/** Who serves connections: the worker. */
export interface ConnectionHost extends ConnectionContext, RelayedHost {
  readonly io: ConnectionContext['io'];
  readonly settings: ConnectionContext['settings'];
  readonly ownPorts: ConnectionContext['ownPorts'];
  /** Checks a login, counts it, and reports it. Null: refused. */
  logIn(client: Endpoint, username: Uint8Array, password: Uint8Array): Account | null;
  /** Hands the connection to the worker that its account belongs to; false when it is this one. */
  passOn(connection: Connection, username: Uint8Array): boolean;
  /** Why the account may have no further session from this address now; null: it may. Reports it. */
  refusal(account: Account, client: Endpoint): string | null;
  /** Whether PROXY headers of this peer are believed. */
  isTrustedProxy(peer: Endpoint): boolean;
  /** Whether the account has not been removed since its login. */
  isStillKnown(account: Account): boolean;
  /** Room for handshakes; false: there is none, and the connection is to be closed. */
  handshakeBegins(connection: Connection, source: string | null): boolean;
  handshakeSource(connection: Connection, source: string): boolean;
  handshakeEnds(connection: Connection): void;
  /** The connection is closed. */
  connectionClosed(connection: Connection): void;
  /** `relayed` has taken its place. */
  connectionRelayed(connection: Connection): void;
  date(): number;
}

type Stage =
  | 'proxy-header'
  | 'handshake'
  | 'command'
  | 'binding'
  | 'associated'
  | 'exchanging'
  | 'refused'
  | 'closed';

export class Connection implements StreamListener, SessionOwner, CommandConnection {
  readonly host: ConnectionHost;
  readonly stream: Stream;
  #client: Endpoint;
  #isProxied = false;
  readonly #arrival: Arrival;
  #stage: Stage = 'handshake';
  #timer: Timer | null = null;
  /** The bytes of a PROXY header so far. */
  #header: Buffer | null = null;
  /** What the client speaks; null: not known yet. */
  #protocol: ClientProtocol | null = null;
  /** Another worker has answered the greeting. */
  #isGreeted = false;
  /** What the client has sent since its first byte, for the worker that the account may belong to; null from the login on. */
  #sent: Buffer | null = null;
  #account: Account | null = null;
  /** A request of HTTP that is forwarded by itself. */
  #forward: ForwardedRequest | null = null;
  /** Its exchange with the destination. */
  #exchange: Relayed | null = null;
  #session: Session | null = null;
  /** What a command does meanwhile: a connection attempt, a wait for a peer. */
  #attempt: Attempt | null = null;
  /** What the client sent behind its request. */
  #early: Buffer | null = null;

  constructor(host: ConnectionHost, stream: Stream, arrival: Arrival) {
    this.host = host;
    this.stream = stream;
    this.#arrival = arrival;
    this.#client = arrival.isUnix ? { address: UNIX_CLIENT, port: 0 } : stream.peer;
  }

  // ── Arrival ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A connection that was accepted here. */
  begin(): void {
    const { hasProxyHeader, isFromTls } = this.#arrival;
    const isFromProxy = isFromTls || (hasProxyHeader && this.host.isTrustedProxy(this.#client));
    const source = isFromProxy || this.isUnix ? null : sourceOf(this.#client.address);
    if (!this.host.handshakeBegins(this, source)) return this.close();
    this.#timer = this.host.io.timer(this.host.settings.handshakeTimeoutMs, () => this.close());
    if (isFromProxy) this.#stage = 'proxy-header';
    this.#listen();
  }

  /** A connection that another worker accepted and read up to the login. */
  resume({ client, isProxied, bytes }: Resumed): void {
    this.#client = client;
    this.#isProxied = isProxied;
    this.#isGreeted = true;
    this.#beginHandshake();
    if (this.#stage === 'handshake') this.#take(bytes);
  }

  /** Of a client that is known. */
  #beginHandshake(): void {
    const { address } = this.#client;
    const source = address === UNIX_CLIENT ? null : sourceOf(address);
    if (!this.host.handshakeBegins(this, source)) return this.close();
    this.#timer = this.host.io.timer(this.host.settings.handshakeTimeoutMs, () => this.close());
    this.#listen();
  }

  get client(): Endpoint {
    return this.#client;
  }

  get isProxied(): boolean {
    return this.#isProxied;
  }

  get isUnix(): boolean {
    return this.#arrival.isUnix;
  }

  get protocols(): readonly ClientProtocolName[] {
    return this.#arrival.protocols;
  }

  /** What another worker needs to go on from here; this connection is over without being closed. */
  handOver(): Buffer {
    const sent = this.#sent ?? Buffer.alloc(0);
    this.#stage = 'closed';
    this.#timer?.clear();
    this.host.handshakeEnds(this);
    return sent;
  }

  #listen(): void {
    this.stream.listener = this;
    this.stream.resume();
  }

  // ── What the stream reports ──────────────────────────────────────────────────────────────────────────────────────

  onData(chunk: Buffer): void {
    if (this.#stage === 'refused' || this.#stage === 'closed') return;
    const bytes = Buffer.from(chunk);
    if (this.#stage === 'proxy-header') return this.#readProxyHeader(bytes);
    if (this.#stage === 'handshake') return this.#take(bytes);
    // BIND reads on while it waits for the peer: a client that is not read could leave unnoticed.
    this.#early = this.#early === null ? bytes : Buffer.concat([this.#early, bytes]);
    if (this.#early.length > MAX_EARLY_BYTES && this.#session !== null)
      this.fail(this.#session, Reply.generalFailure, 'too-much-before-peer');
  }

  onEnd(): void {
    // A client that stops sending before its request is complete wants nothing from us; one that was refused has heard.
    this.close();
  }

  onFailed(): void {
    this.close();
  }

  // ── PROXY header ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** A malformed header closes the connection: whatever follows it could be the words of a client that must not be heard. */
  #readProxyHeader(bytes: Buffer): void {
    this.#header = this.#header === null ? bytes : Buffer.concat([this.#header, bytes]);
    const header = parseProxyHeader(this.#header);
    if (header.kind === 'more' && this.#header.length <= MAX_HEADER_BYTES) return;
    if (header.kind !== 'header') {
      this.host.log.warn({ client: this.#client.address }, 'malformed PROXY header');
      return this.close();
    }
    if (header.client !== null) {
      this.#client = header.client;
      this.#isProxied = true;
    }
    const rest = this.#header.subarray(header.length);
    this.#header = null;
    this.#stage = 'handshake';
    if (
      this.#client.address !== UNIX_CLIENT &&
      !this.host.handshakeSource(this, sourceOf(this.#client.address))
    ) {
      return this.close();
    }
    if (rest.length > 0) this.#take(rest);
  }

  // ── Handshake: methods, login, request ───────────────────────────────────────────────────────────────────────────

  #take(bytes: Buffer): void {
    this.#sent = this.#sent === null ? bytes : Buffer.concat([this.#sent, bytes]);
    this.#protocol ??= protocolOf(bytes[0], this.protocols, this.host.settings.http);
    if (this.#protocol === null) return this.refuse(METHODS_REFUSED);
    this.#protocol.feed(bytes);
    this.#shakeHands(this.#protocol);
  }

  #shakeHands(protocol: ClientProtocol): void {
    while (this.#stage === 'handshake') {
      const step = protocol.next();
      switch (step.kind) {
        case 'more':
          return;
        case 'send':
          if (!this.#isGreeted) this.stream.write(step.bytes);
          break;
        case 'refuse':
          return this.refuse(step.bytes);
        case 'login': {
          if (this.host.passOn(this, step.username)) return;
          this.#sent = null;
          this.#account = this.host.logIn(this.#client, step.username, step.password);
          if (this.#account === null) return this.refuse(protocol.loginFailed);
          const accepted = protocol.accept();
          if (accepted !== null) this.stream.write(accepted);
          break;
        }
        case 'request':
          this.#early = step.rest;
          this.#forward = step.forward ?? null;
          return this.#requested(step.request);
      }
    }
  }

  // ── Authorize ────────────────────────────────────────────────────────────────────────────────────────────────────

  #requested(request: ClientRequest): void {
    const account = this.#account;
    this.#handshakeOver();
    if (account === null) return this.close();
    const { record } = account;
    // The account may have been closed between its login and its request.
    if (!record.isEnabled || isExpired(record, this.host.date()) || !this.host.isStillKnown(account)) {
      return this.refuseWith(Reply.generalFailure);
    }
    const refusal = this.host.refusal(account, this.#client);
    if (refusal !== null) return this.refuseWith(Reply.notAllowedByRuleset);
    const egress = this.host.egressOf(account);
    if (egress === null) {
      const fields = {
        account: record.username,
        client: this.#client.address,
        reason: 'unknown-egress-class',
      };
      this.host.log.info(fields, 'session refused');
      return this.refuseWith(Reply.notAllowedByRuleset);
    }
    if (request.command === 'udp') return this.#associate(account, egress, request);
    this.#stage = 'command';
    this.stream.pause();
    if (request.command === 'connect') startConnect(this, { account, egress, request });
    else startBind(this, { account, egress, request });
  }

  #handshakeOver(): void {
    this.#sent = null;
    this.#timer?.clear();
    this.#timer = null;
    this.host.handshakeEnds(this);
  }

  // ── UDP ASSOCIATE ────────────────────────────────────────────────────────────────────────────────────────────────

  #associate(account: Account, egress: EgressPolicy, { addressType, address, port }: ClientRequest): void {
    if (!this.host.settings.udp.enabled) return this.refuseWith(Reply.commandNotSupported);
    this.#stage = 'associated';
    associate(this.host, {
      stream: this.stream,
      client: this.#client,
      isProxied: this.#isProxied,
      isUnix: this.isUnix,
      account,
      egress,
      addressType,
      address,
      port,
      onClosed: () => {
        this.#stage = 'closed';
        this.host.connectionClosed(this);
      },
      refuse: (reply) => this.refuseWith(reply),
    });
  }

  // ── What commands use: see command.ts ────────────────────────────────────────────────────────────────────────────────────────────

  openSession(command: 'connect' | 'bind', account: Account, host: string, port: number): Session | null {
    const session = this.host.openSession({
      command,
      clientProtocol: this.#protocol?.name ?? 'socks5',
      account,
      client: this.#client,
      destination: { host, port },
      owner: this,
    });
    if (session === null) {
      this.#logDestination(account, host, port, 'too-many-sessions');
      this.refuseWith(Reply.generalFailure);
      return null;
    }
    this.#session = session;
    return session;
  }

  wait(attempt: Attempt): void {
    if (this.#stage === 'command' || this.#stage === 'binding') this.#attempt = attempt;
  }

  readWhileBinding(): void {
    this.#stage = 'binding';
    this.stream.resume();
  }

  markOutbound(port: number): void {
    this.host.ownPorts.add('tcp-outbound', port);
  }

  relay(session: Session, destination: Stream, outboundPort: number, inspect: PayloadInspector | null): void {
    this.#stage = 'closed';
    const early = this.#early;
    new Relayed(this.host, { session, destination, outboundPort }, (owner) =>
      this.host.io.relay({
        client: this.stream,
        destination,
        early,
        inspect,
        rates: session.rates(),
        counts: session.counts,
        countAt: session.countAt,
        owner,
      }),
    );
    this.host.connectionRelayed(this);
  }

  get forward(): ForwardedRequest | null {
    return this.#forward;
  }

  exchange(
    session: Session,
    destination: Stream,
    outboundPort: number,
    request: ForwardedRequest,
    inspect: PayloadInspector | null,
    ahead: Buffer | null,
  ): void {
    this.#stage = 'exchanging';
    const early = this.#early;
    this.#early = null;
    const { io, settings, ownPorts } = this.host;
    const answered = (end: SessionEnd): void => {
      const exchange = this.#exchange;
      this.#exchange = null;
      this.#session = null;
      exchange?.finish(end);
    };
    const relayedClosed = (): void => {
      // Answered, the connection goes on.
      if (this.#exchange !== null) this.#closed();
    };
    let exchange: HttpExchange | undefined;
    const create = (owner: RelayOwner): HttpExchange => {
      exchange = new HttpExchange({
        client: this.stream,
        destination,
        request,
        early,
        limits: settings.http,
        inspect,
        rates: session.rates(),
        counts: session.counts,
        countAt: session.countAt,
        onAnswered: (rest) => {
          answered('destination-closed');
          if (rest === null) this.refuse(NOTHING);
          else this.#awaitRequest(rest);
        },
        onNoAnswer: (end) => {
          answered(end);
          this.refuseWith(Reply.hostUnreachable);
        },
        onEnd: (end) => owner.relayEnded(end),
      });
      return exchange;
    };
    const host = { io, settings, ownPorts, relayedClosed };
    this.#exchange = new Relayed(host, { session, destination, outboundPort }, create);
    exchange?.start(ahead);
  }

  /** A connection that is kept open waits for its next request like one that has just come; each request logs in. */
  #awaitRequest(rest: Buffer): void {
    this.#stage = 'handshake';
    this.#protocol = new HttpProxy(this.host.settings.http);
    this.#forward = null;
    this.#account = null;
    this.#beginHandshake();
    if (rest.length > 0 && this.#stage === 'handshake') this.#take(rest);
  }

  fail(session: Session, reply: ReplyCode, reason: string): void {
    if (session.isEnded) return;
    this.#attempt?.cancel();
    this.#attempt = null;
    this.logRefusal(session, reason);
    session.abandon();
    this.refuseWith(reply);
  }

  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): void {
    if (this.#protocol !== null) this.stream.write(this.#protocol.reply(code, boundAddress, boundPort));
  }

  refuseWith(code: ReplyCode): void {
    this.refuse(this.#protocol?.reply(code) ?? METHODS_REFUSED);
  }

  refuseDestination(account: Account, host: string, port: number, reason: string): void {
    this.#logDestination(account, host, port, reason);
    this.refuseWith(Reply.notAllowedByRuleset);
  }

  /**
   * Sends `frame` and closes. What the client still sends is read and dropped until it closes too, because closing
   * over unread bytes makes the kernel send a reset, and a reset can overtake the frame.
   */
  refuse(frame: Uint8Array): void {
    if (this.#stage === 'closed' || this.#stage === 'refused') return;
    this.#handshakeOver();
    this.#stage = 'refused';
    this.#early = null;
    this.#timer = this.host.io.timer(LINGER_MS, () => this.close());
    this.stream.write(frame);
    this.stream.shutdown();
    this.#listen();
  }

  logRefusal({ account, destination }: Session, reason: string): void {
    this.#logDestination(account, destination.host, destination.port, reason);
  }

  /** The line that tells an operator why a player did not get where it wanted. */
  #logDestination(account: Account, host: string, port: number, reason: string): void {
    this.host.log.info(
      {
        account: account.record.username,
        client: this.#client.address,
        destination: formatHostPort(host, port),
        reason,
      },
      'destination refused',
    );
  }

  // ── The session's owner, until it is relayed ─────────────────────────────────────────────────────────────────────

  tick(): void {}

  setRates(): void {
    // Whoever relays asks for the rates.
  }

  /** The session ends for a reason from outside, or its client is gone. */
  end(): void {
    this.close();
  }

  /** Closes at once, whatever the stage. */
  close(): void {
    if (this.#stage === 'closed') return;
    if (this.#exchange !== null) return this.#exchange.end('relay-failed');
    this.#attempt?.cancel();
    this.#attempt = null;
    this.#session?.abandon();
    this.stream.close();
    this.#closed();
  }

  /** Its handshake had to make room. */
  evict(): void {
    this.close();
  }

  #closed(): void {
    this.#stage = 'closed';
    this.#timer?.clear();
    this.host.handshakeEnds(this);
    this.host.connectionClosed(this);
  }
}
