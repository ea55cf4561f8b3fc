// One connection of a player, from its first byte to its end, as one state machine:
//
//   PROXY header? → handshake (methods, login, request) → authorize → resolve → dial → relay → closed
//                                                                   ↘ BIND: wait for the peer ↗
//                                                                   ↘ UDP ASSOCIATE: an association (udp/)
//
// Every way it can fail ends in `#refuse` (a last frame, then closed) or in `close`.
import { isExpired } from '../core/accounts/account.js';
import type { EgressPolicy } from '../core/egress/egress.js';
import { formatHostPort, normalizeAddress, parseIp } from '../core/ip.js';
import type { ClientProtocolName } from '../core/sessions/session.js';
import { sourceOf } from '../core/source.js';
import type { Account } from './account.js';
import { type BindWait, waitForPeer } from './bind.js';
import type { ConnectionContext } from './context.js';
import { dial } from './dial.js';
import { permittedAddresses } from './egress.js';
import { HttpExchange } from './http-exchange.js';
import type { Attempt, Endpoint, Relay, RelayEnd, Stream, StreamListener, Timer } from './io/io.js';
import type { AccountRates } from './io/rates.js';
import type { ClientProtocol } from './protocols/client-protocol.js';
import type { ClientRequest } from './protocols/client-request.js';
import { protocolOf } from './protocols/first-byte.js';
import type { ForwardedRequest } from './protocols/http/forward.js';
import { HttpProxy } from './protocols/http/http-proxy.js';
import { parseProxyHeader, UNIX_CLIENT } from './protocols/proxy-header.js';
import { METHODS_REFUSED, Reply, type ReplyCode, replyForErrno } from './protocols/socks5.js';
import type { Session, SessionEnd, SessionOwner } from './session.js';
import { readTarget } from './target.js';
import { associate } from './udp/associate.js';
import { askUpstream } from './upstreams/ask.js';
import type { Upstream } from './upstreams/rules.js';

/** How long a refused client may take to close its side, in ms. */
const LINGER_MS = 1_000;
/** What may wait for a PROXY header to be complete; more is malformed anyway. */
const MAX_HEADER_BYTES = 8 * 1024;
const NOTHING = new Uint8Array(0);

/** What a client of BIND may send before its peer is there, in bytes; one that sends more is refused. */
const MAX_EARLY_BYTES = 64 * 1024;

/** What is told to a client when the name of its destination has no address. */
const REPLY_BY_RESOLVE_FAILURE = {
  'not-found': Reply.hostUnreachable,
  timeout: Reply.hostUnreachable,
  'too-many': Reply.generalFailure,
} as const;

/** What is known of a connection by the listener it came to. */
export interface Arrival {
  /** Connections from `proxyProtocolFrom` begin with a PROXY header. */
  readonly hasProxyHeader: boolean;
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
export interface ConnectionHost extends ConnectionContext {
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
  date(): number;
}

type Stage =
  | 'proxy-header'
  | 'handshake'
  | 'resolving'
  | 'dialling'
  | 'binding'
  | 'relaying'
  | 'associated'
  | 'refused'
  | 'closed';

export class Connection implements StreamListener, SessionOwner {
  readonly #host: ConnectionHost;
  readonly #stream: Stream;
  #client: Endpoint;
  #isProxied = false;
  readonly #arrival: Arrival;
  #stage: Stage = 'handshake';
  #timer: Timer | null = null;
  /** The bytes of a PROXY header so far. */
  #header: Buffer | null = null;
  /** What the client speaks; null: not known yet, or no longer needed. */
  #protocol: ClientProtocol | null = null;
  /** Another worker has answered the greeting. */
  #isGreeted = false;
  /** What the client has sent since its first byte, for the worker that the account may belong to; null from the login on. */
  #sent: Buffer | null = null;
  #session: Session | null = null;
  /** What is under way before the relay: a connection attempt, a wait for a peer. */
  #underWay: Attempt | BindWait | null = null;
  #relay: Relay | null = null;
  #association: SessionOwner | null = null;
  /** What the client sent behind its request. */
  #early: Buffer | null = null;
  #destination: Stream | null = null;
  #outboundPort = 0;
  #isKeptAlive = false;
  #movedMs = 0;
  #bytesSeen = 0;
  /** Why the session was ended from outside. */
  #reason: SessionEnd | null = null;

  constructor(host: ConnectionHost, stream: Stream, arrival: Arrival) {
    this.#host = host;
    this.#stream = stream;
    this.#arrival = arrival;
    this.#client = arrival.isUnix ? { address: UNIX_CLIENT, port: 0 } : stream.peer;
  }

  // ── Arrival ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A connection that was accepted here. */
  begin(): void {
    const isFromProxy = this.#arrival.hasProxyHeader && this.#host.isTrustedProxy(this.#client);
    const source = isFromProxy || this.isUnix ? null : sourceOf(this.#client.address);
    if (!this.#host.handshakeBegins(this, source)) return this.close();
    this.#timer = this.#host.io.timer(this.#host.settings.handshakeTimeoutMs, () => this.close());
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
    const source = this.isUnix ? null : sourceOf(this.#client.address);
    if (!this.#host.handshakeBegins(this, source)) return this.close();
    this.#timer = this.#host.io.timer(this.#host.settings.handshakeTimeoutMs, () => this.close());
    this.#listen();
  }

  get stream(): Stream {
    return this.#stream;
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
    this.#host.handshakeEnds(this);
    return sent;
  }

  #listen(): void {
    this.#stream.listener = this;
    this.#stream.resume();
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
      this.#fail(this.#session, Reply.generalFailure, 'too-much-before-peer');
  }

  onEnd(): void {
    // A client that stops sending before its request is complete wants nothing from us; one that was refused has heard.
    if (this.#stage === 'binding') this.end('client-closed');
    else if (this.#stage !== 'closed') this.close();
  }

  onFailed(): void {
    if (this.#session) this.end('client-closed');
    else this.close();
  }

  // ── PROXY header ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** A malformed header closes the connection: whatever follows it could be the words of a client that must not be heard. */
  #readProxyHeader(bytes: Buffer): void {
    this.#header = this.#header === null ? bytes : Buffer.concat([this.#header, bytes]);
    const header = parseProxyHeader(this.#header);
    if (header.kind === 'more' && this.#header.length <= MAX_HEADER_BYTES) return;
    if (header.kind !== 'header') {
      this.#host.log.warn({ client: this.#client.address }, 'malformed PROXY header');
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
      !this.#host.handshakeSource(this, sourceOf(this.#client.address))
    ) {
      return this.close();
    }
    if (rest.length > 0) this.#take(rest);
  }

  // ── Handshake: methods, login, request ───────────────────────────────────────────────────────────────────────────

  #take(bytes: Buffer): void {
    this.#sent = this.#sent === null ? bytes : Buffer.concat([this.#sent, bytes]);
    this.#protocol ??= protocolOf(bytes[0], this.protocols, this.#host.settings.http);
    if (this.#protocol === null) return this.#refuse(METHODS_REFUSED);
    this.#protocol.feed(bytes);
    this.#shakeHands(this.#protocol);
  }

  #account: Account | null = null;
  /** A request of HTTP that is forwarded by itself. */
  #forward: ForwardedRequest | null = null;

  #shakeHands(protocol: ClientProtocol): void {
    while (this.#stage === 'handshake') {
      const step = protocol.next();
      switch (step.kind) {
        case 'more':
          return;
        case 'send':
          if (!this.#isGreeted) this.#stream.write(step.bytes);
          break;
        case 'refuse':
          return this.#refuse(step.bytes);
        case 'login': {
          if (this.#host.passOn(this, step.username)) return;
          this.#sent = null;
          this.#account = this.#host.logIn(this.#client, step.username, step.password);
          if (this.#account === null) return this.#refuse(protocol.loginFailed);
          const accepted = protocol.accept();
          if (accepted !== null) this.#stream.write(accepted);
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
    if (!record.isEnabled || isExpired(record, this.#host.date()) || !this.#host.isStillKnown(account)) {
      return this.#refuseWith(Reply.generalFailure);
    }
    const refusal = this.#host.refusal(account, this.#client);
    if (refusal !== null) return this.#refuseWith(Reply.notAllowedByRuleset);
    const egress = this.#host.egressOf(account);
    if (egress === null) {
      const fields = {
        account: record.username,
        client: this.#client.address,
        reason: 'unknown-egress-class',
      };
      this.#host.log.info(fields, 'session refused');
      return this.#refuseWith(Reply.notAllowedByRuleset);
    }
    if (request.command === 'connect') return this.#connect(account, egress, request);
    if (request.command === 'bind') return this.#bind(account, egress, request);
    this.#associate(account, egress, request);
  }

  #handshakeOver(): void {
    this.#sent = null;
    this.#timer?.clear();
    this.#timer = null;
    this.#host.handshakeEnds(this);
  }

  // ── CONNECT ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #connect(account: Account, egress: EgressPolicy, { addressType, address, port }: ClientRequest): void {
    const { settings, upstreams } = this.#host;
    this.#stream.pause();
    const target = readTarget(addressType, address, settings.allowUnderscore);
    if (!target.ok) return this.#refuseDestination(account, target.host, port, target.reason);
    const { host } = target;
    const session = this.#openSession('connect', account, host, port);
    if (session === null) return;
    if (target.kind === 'address') return this.#judgeAndDial(session, egress, [host], null);

    const upstream = upstreams.selectForName(host, port);
    if (upstream === null)
      return this.#resolve(session, egress, host, (found) =>
        this.#judgeAndDial(session, egress, found, host),
      );
    const verdict = egress.judgeName({ host, port });
    if (verdict.ok) this.#goThrough(session, egress, upstream, host);
    else this.#fail(session, Reply.notAllowedByRuleset, verdict.reason);
  }

  #resolve(
    session: Session,
    egress: EgressPolicy,
    name: string,
    found: (addresses: readonly string[]) => void,
  ): void {
    // A name that a rule denies is not even looked up. Anything else is decided on its addresses.
    const verdict = egress.judgeName({ host: name, port: session.destination.port });
    if (!verdict.ok && verdict.reason === 'denied-by-rule') {
      return this.#fail(session, Reply.notAllowedByRuleset, verdict.reason);
    }
    this.#stage = 'resolving';
    const client = { accountId: session.account.record.id, source: sourceOf(this.#client.address) };
    this.#host.resolve(name, client, (result) => {
      if (session.isEnded) return;
      if (result.ok) found(result.addresses);
      else this.#fail(session, REPLY_BY_RESOLVE_FAILURE[result.reason], `resolve-${result.reason}`);
    });
  }

  /** Judges every address, and dials those that are permitted, or asks the upstream proxy that leads there. */
  #judgeAndDial(
    session: Session,
    egress: EgressPolicy,
    addresses: readonly string[],
    name: string | null,
  ): void {
    const { io, settings, upstreams } = this.#host;
    const { host, port } = session.destination;
    const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
    const [first] = permitted;
    if (first === undefined) return this.#fail(session, Reply.notAllowedByRuleset, refusal);
    const upstreamOf = (address: string): Upstream | null => {
      const ip = upstreams.isEmpty ? null : parseIp(address);
      return ip === null ? null : upstreams.select(host, ip, port);
    };
    const upstream = upstreamOf(first);
    const alike = upstreams.isEmpty
      ? permitted
      : permitted.filter((address) => upstreamOf(address) === upstream);
    if (upstream !== null) {
      // An upstream proxy is asked for one address only: IPv4 is what every one has.
      return this.#goThrough(session, egress, upstream, alike.find((each) => !each.includes(':')) ?? first);
    }
    this.#stage = 'dialling';
    this.#underWay = dial(io, {
      addresses: alike,
      port,
      timeoutMs: settings.connectTimeoutMs,
      onConnected: (stream, address) => this.#connected(session, stream, address, stream.local, null),
      onFailed: (code) => this.#fail(session, replyForErrno(code), code),
    });
  }

  /** `asked`: the name or the address that the upstream proxy is to connect to. */
  #goThrough(session: Session, egress: EgressPolicy, upstream: Upstream, asked: string): void {
    const { io, resolve, settings } = this.#host;
    this.#stage = 'dialling';
    const attempt = askUpstream(
      {
        upstream,
        command: 'connect',
        destination: { host: asked, port: session.destination.port },
        client: { accountId: session.account.record.id, source: sourceOf(this.#client.address) },
        onConnected: (stream, bound, early) => {
          session.via = formatHostPort(upstream.host, upstream.port);
          this.#connected(session, stream, parseIp(asked) === null ? '' : asked, bound, early);
        },
        onFailed: (reply, reason) => this.#fail(session, reply, reason),
      },
      { io, resolve, egress, connectTimeoutMs: settings.connectTimeoutMs },
    );
    if (this.#stage === 'dialling') this.#underWay = attempt;
  }

  /** @param ahead what the destination has sent already */
  #connected(
    session: Session,
    destination: Stream,
    address: string,
    bound: Endpoint,
    ahead: Buffer | null,
  ): void {
    this.#underWay = null;
    this.#ownOutbound(destination);
    const inspect = session.start(address);
    if (this.#forward !== null) return this.#exchange(session, destination, this.#forward, inspect, ahead);
    this.#reply(Reply.succeeded, bound.address, bound.port);
    if (ahead !== null) {
      session.counts[session.countAt + 1] = (session.counts[session.countAt + 1] ?? 0) + ahead.length;
      this.#stream.write(ahead);
    }
    this.#startRelay(session, destination, inspect);
  }

  /** Known before the destination can see a byte, so that an admin request through the proxy is recognised. */
  #ownOutbound(destination: Stream): void {
    this.#destination = destination;
    this.#outboundPort = destination.local.port;
    this.#host.ownPorts.add('tcp-outbound', this.#outboundPort);
  }

  #releaseDestination(): void {
    if (this.#destination !== null) this.#host.ownPorts.remove('tcp-outbound', this.#outboundPort);
    this.#destination = null;
    this.#outboundPort = 0;
  }

  /** Where the session's connection leads, for those who ask whose local port this is; null: it has none. */
  get outbound(): { readonly local: Endpoint; readonly remote: Endpoint } | null {
    const destination = this.#destination;
    return destination === null ? null : { local: destination.local, remote: destination.peer };
  }

  get outboundPort(): number {
    return this.#outboundPort;
  }

  // ── HTTP requests in absolute form ───────────────────────────────────────────────────────────────────────────────

  #exchange(
    session: Session,
    destination: Stream,
    request: ForwardedRequest,
    inspect: ((chunk: Uint8Array) => boolean) | null,
    ahead: Buffer | null,
  ): void {
    this.#stage = 'relaying';
    this.#movedMs = this.#host.io.now();
    const early = this.#early;
    this.#early = null;
    const exchange = new HttpExchange({
      client: this.#stream,
      destination,
      request,
      early,
      limits: this.#host.settings.http,
      inspect,
      rates: session.rates(),
      counts: session.counts,
      countAt: session.countAt,
      onAnswered: (rest) => {
        this.#exchanged(session, 'destination-closed');
        if (rest === null) this.#refuse(NOTHING);
        else this.#awaitRequest(rest);
      },
      onNoAnswer: (end) => {
        this.#exchanged(session, end);
        this.#refuseWith(Reply.hostUnreachable);
      },
      onEnd: (end) => this.#relayEnded(end),
    });
    this.#relay = exchange;
    exchange.start(ahead);
  }

  #exchanged(session: Session, end: SessionEnd): void {
    session.finish(end);
    this.#session = null;
    this.#relay = null;
    this.#releaseDestination();
  }

  /** A connection that is kept open waits for its next request like one that has just come; each request logs in. */
  #awaitRequest(rest: Buffer): void {
    this.#stage = 'handshake';
    this.#protocol = new HttpProxy(this.#host.settings.http);
    this.#forward = null;
    this.#account = null;
    this.#isKeptAlive = false;
    this.#bytesSeen = 0;
    this.#beginHandshake();
    if (rest.length > 0 && this.#stage === 'handshake') this.#take(rest);
  }

  // ── BIND ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #bind(account: Account, egress: EgressPolicy, { addressType, address, port }: ClientRequest): void {
    const { settings } = this.#host;
    this.#stream.pause();
    if (!settings.bind.enabled) return this.#refuseWith(Reply.commandNotSupported);
    const target = readTarget(addressType, address, settings.allowUnderscore);
    if (!target.ok) return this.#refuseDestination(account, target.host, port, target.reason);
    const { host } = target;
    const session = this.#openSession('bind', account, host, port);
    if (session === null) return;
    const name = target.kind === 'name' ? host : null;
    // All zeros: the client does not know who will connect; whoever may be reached may also call.
    if (name === null && address.every((byte) => byte === 0)) {
      return this.#waitForPeer(session, egress, null, host.includes(':'));
    }
    const judge = (addresses: readonly string[]): void => {
      const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
      const first = permitted.find((each) => !each.includes(':')) ?? permitted[0];
      if (first === undefined) return this.#fail(session, Reply.notAllowedByRuleset, refusal);
      this.#waitForPeer(session, egress, permitted, first.includes(':'));
    };
    if (name === null) judge([host]);
    else this.#resolve(session, egress, name, judge);
  }

  #waitForPeer(
    session: Session,
    egress: EgressPolicy,
    expected: readonly string[] | null,
    isIpv6: boolean,
  ): void {
    const { io, settings, ownPorts } = this.#host;
    this.#stage = 'binding';
    const wait = waitForPeer(
      {
        expected,
        isIpv6,
        settings: settings.bind,
        localAddress: normalizeAddress(this.#stream.local.address),
        egress,
        onListening: (bound) => {
          this.#reply(Reply.succeeded, bound.address, bound.port);
          // What the client sends is kept for the peer; reading it is how its end is noticed.
          this.#stream.resume();
        },
        onWrongPeer: (address) => this.#logRefusal(session, `peer ${address} is not the one named`),
        onPeer: (peer, address) => {
          this.#stream.pause();
          this.#underWay = null;
          this.#ownOutbound(peer);
          const inspect = session.start(address);
          this.#reply(Reply.succeeded, address, peer.peer.port);
          this.#startRelay(session, peer, inspect);
        },
        onFailed: (reply, reason) => this.#fail(session, reply, reason),
      },
      { io, ownPorts },
    );
    if (this.#stage === 'binding') this.#underWay = wait;
  }

  // ── UDP ASSOCIATE ────────────────────────────────────────────────────────────────────────────────────────────────

  #associate(account: Account, egress: EgressPolicy, { addressType, address, port }: ClientRequest): void {
    if (!this.#host.settings.udp.enabled) return this.#refuseWith(Reply.commandNotSupported);
    this.#stage = 'associated';
    this.#association = associate(this.#host, {
      stream: this.#stream,
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
        this.#host.connectionClosed(this);
      },
      refuse: (reply) => this.#refuseWith(reply),
    });
  }

  // ── Relay ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #startRelay(session: Session, destination: Stream, inspect: ((chunk: Uint8Array) => boolean) | null): void {
    this.#stage = 'relaying';
    this.#protocol = null;
    this.#movedMs = this.#host.io.now();
    const early = this.#early;
    this.#early = null;
    this.#relay = this.#host.io.relay({
      client: this.#stream,
      destination,
      early,
      inspect,
      rates: session.rates(),
      counts: session.counts,
      countAt: session.countAt,
      onEnd: (end) => this.#relayEnded(end),
    });
  }

  #relayEnded(end: RelayEnd): void {
    this.#session?.finish(this.#reason ?? end);
    this.#closed();
  }

  /** Holds a relayed session to its time limits. */
  tick(nowMs: number): void {
    const session = this.#session;
    if (this.#stage !== 'relaying' || session === null) return;
    const { idleTimeoutMs, halfCloseTimeoutMs } = this.#host.settings;
    if (!this.#isKeptAlive) {
      this.#isKeptAlive = true;
      this.#destination?.keepAlive();
      this.#stream.keepAlive();
    }
    const bytes = (session.counts[session.countAt] ?? 0) + (session.counts[session.countAt + 1] ?? 0);
    if (bytes !== this.#bytesSeen) {
      this.#bytesSeen = bytes;
      this.#movedMs = nowMs;
      return;
    }
    const quietMs = nowMs - this.#movedMs;
    if (quietMs >= idleTimeoutMs) this.end('idle-timeout');
    else if (quietMs >= halfCloseTimeoutMs && this.#relay?.isHalfClosed) this.end('half-close-timeout');
  }

  setRates(rates: AccountRates | null): void {
    // One that is not relayed yet asks for the rates when it is.
    this.#relay?.setRates(rates);
    this.#association?.setRates(rates);
  }

  // ── Ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The session ends for a reason from outside, or its client is gone. */
  end(reason: SessionEnd): void {
    if (this.#stage === 'closed') return;
    this.#reason = reason;
    if (this.#relay !== null) {
      this.#relay.close();
      this.#session?.finish(reason);
      return this.#closed();
    }
    this.close();
  }

  /** Closes at once, whatever the stage. */
  close(): void {
    if (this.#stage === 'closed') return;
    if (this.#stage === 'relaying') return this.end('relay-failed');
    this.#underWay?.cancel();
    this.#underWay = null;
    this.#session?.abandon();
    this.#stream.close();
    this.#closed();
  }

  /** Its handshake had to make room. */
  evict(): void {
    this.close();
  }

  #closed(): void {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    this.#timer?.clear();
    this.#protocol = null;
    this.#relay = null;
    this.#releaseDestination();
    this.#host.handshakeEnds(this);
    this.#host.connectionClosed(this);
  }

  /** The session ends before it is relayed, and the client is told why. */
  #fail(session: Session, reply: ReplyCode, reason: string): void {
    if (session.isEnded) return;
    this.#underWay?.cancel();
    this.#underWay = null;
    this.#logRefusal(session, reason);
    session.abandon();
    this.#refuseWith(reply);
  }

  #refuseDestination(account: Account, host: string, port: number, reason: string): void {
    this.#logDestination(account, host, port, reason);
    this.#refuseWith(Reply.notAllowedByRuleset);
  }

  #reply(code: ReplyCode, boundAddress?: string, boundPort?: number): void {
    if (this.#protocol !== null) this.#stream.write(this.#protocol.reply(code, boundAddress, boundPort));
  }

  #refuseWith(code: ReplyCode): void {
    this.#refuse(this.#protocol?.reply(code) ?? METHODS_REFUSED);
  }

  /**
   * Sends `frame` and closes. What the client still sends is read and dropped until it closes too, because closing
   * over unread bytes makes the kernel send a reset, and a reset can overtake the frame.
   */
  #refuse(frame: Uint8Array): void {
    if (this.#stage === 'closed' || this.#stage === 'refused') return;
    this.#handshakeOver();
    this.#stage = 'refused';
    this.#early = null;
    this.#timer = this.#host.io.timer(LINGER_MS, () => this.close());
    this.#stream.write(frame);
    this.#stream.shutdown();
    this.#listen();
  }

  #openSession(command: 'connect' | 'bind', account: Account, host: string, port: number): Session | null {
    const session = this.#host.openSession({
      command,
      clientProtocol: this.#protocol?.name ?? 'socks5',
      account,
      client: this.#client,
      destination: { host, port },
      owner: this,
    });
    if (session === null) {
      this.#logDestination(account, host, port, 'too-many-sessions');
      this.#refuseWith(Reply.generalFailure);
      return null;
    }
    this.#session = session;
    return session;
  }

  #logRefusal({ account, destination }: Session, reason: string): void {
    this.#logDestination(account, destination.host, destination.port, reason);
  }

  /** The line that tells an operator why a player did not get where it wanted. */
  #logDestination(account: Account, host: string, port: number, reason: string): void {
    this.#host.log.info(
      {
        account: account.record.username,
        client: this.#client.address,
        destination: formatHostPort(host, port),
        reason,
      },
      'destination refused',
    );
  }
}
