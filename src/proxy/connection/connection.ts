// One connection of a player, from its first byte to its end, as one state machine:
//
//   PROXY header? → handshake (methods, login, request) → admission.ts (guard → authorize → permit?) → command
//
//   CONNECT (connect-command.ts): resolve → dial → relayed.ts
//   BIND (bind-command.ts): resolve → wait for the peer → relayed.ts
//   UDP ASSOCIATE: udp/
//   HTTP in absolute form (http-exchange.ts): like CONNECT, but exchanged, and back to the handshake
//
// running-command.ts handles the connection while CONNECT, BIND or an exchange runs. Every failure ends in `refuse` (sends
// a last reply, then closes) or in `close`. While bytes are relayed, relayed.ts replaces this object.
import { type Endpoint, sourceOf } from '../../core/addresses/ip.js';
import type { Timer } from '../../core/time/timers.js';
import type { HandedLogin, HandedRequest } from '../handover/state.js';
import type { Stream, StreamListener } from '../io/io.js';
import type { ClientProtocol, HandshakeStep } from '../protocols/client-protocol.js';
import { protocolOf } from '../protocols/first-byte.js';
import { HttpProxy } from '../protocols/http/http-proxy.js';
import { parseProxyHeader, UNIX_CLIENT } from '../protocols/proxy-header.js';
import { METHODS_REFUSED } from '../protocols/socks5.js';
import { associate } from '../udp/associate.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerHost } from '../worker/host.js';
import { Admission } from './admission.js';
import { startBind } from './bind-command.js';
import { startConnect } from './connect-command.js';
import type { Arrival } from './connections.js';
import { type AuthorizedRequest, type HandedListener, RunningCommand } from './running-command.js';

/** How long a refused client may take to close its side, in ms. */
const LINGER_MS = 1_000;

type Stage = 'proxy-header' | 'handshake' | 'permit' | 'command' | 'associated' | 'refused' | 'closed';

type LoginStep = Extract<HandshakeStep, { kind: 'login' | 'address-login' }>;
type RequestStep = Extract<HandshakeStep, { kind: 'request' }>;

export class Connection implements StreamListener {
  client: Endpoint;
  /** A PROXY header named the client. */
  isProxied = false;
  /** Its account was found by the client's address. */
  isByAddress = false;
  linkHash: string | null = null;
  #stage: Stage = 'handshake';
  #timer: Timer | null = null;
  /** The protocol of the client; null: not known yet. */
  #protocol: ClientProtocol | null = null;
  /** The greeting has been answered, here or in another worker. */
  #isGreeted = false;
  /**
   * What the client has sent since its first byte, or since the answer of an exchange, or of a PROXY header so far: for the worker that
   * the account may belong to, and for another process.
   */
  #sent: Buffer | null = null;
  /** Logged in at another process, which has handed it over; null from its request on. */
  #login: HandedLogin | null = null;
  /** Where another process has let its BIND wait. */
  #listener: HandedListener | null = null;
  #account: WorkerAccount | null = null;
  /** The exit that the client has chosen at its login; null: that of the account. */
  #exit: string | null = null;
  /** In the stage 'permit'. */
  #admission: Admission | null = null;
  #command: RunningCommand | null = null;

  constructor(
    readonly host: WorkerHost,
    readonly stream: Stream,
    readonly arrival: Arrival,
  ) {
    this.client = arrival.isUnix ? { address: UNIX_CLIENT, port: 0 } : stream.peer;
    host.connections.add(this);
  }

  // ── Arrival ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A connection that was accepted here. */
  begin(): void {
    const { hasProxyHeader, isFromTls } = this.arrival;
    const isFromProxy = isFromTls || (hasProxyHeader && this.host.isTrustedProxy(this.client));
    if (isFromProxy) this.#stage = 'proxy-header';
    this.#beginHandshake(isFromProxy || this.arrival.isUnix ? null : sourceOf(this.client.address));
  }

  /** Reads again what another worker or process has read, and does not send again what has been answered. */
  resume(client: Endpoint, isProxied: boolean, isGreeted: boolean, bytes: Buffer): void {
    this.client = client;
    this.isProxied = isProxied;
    this.#isGreeted = isGreeted;
    this.#beginHandshake(this.#source());
    if (this.#stage === 'handshake' && bytes.length > 0) this.#take(bytes);
  }

  /** Continues what another process has handed over, which counts already. */
  continue({ descriptors, login, bind, ...handed }: HandedRequest): void {
    const [, fd] = descriptors;
    this.#login = login;
    if (bind !== null && fd !== undefined) this.#listener = { fd, ...bind };
    this.stream.write(Buffer.from(handed.unsent, 'base64'));
    const bytes = Buffer.from(handed.bytes, 'base64');
    if (handed.client !== null) return this.resume(handed.client, handed.isProxied, handed.isGreeted, bytes);
    this.begin();
    if (this.#stage === 'proxy-header' && bytes.length > 0) this.#readProxyHeader(bytes);
  }

  /** What another process needs to continue it; null: that is not possible. The connection can go on. */
  capture(): HandedRequest | null {
    const { io } = this.host;
    const isRead = ['proxy-header', 'handshake', 'permit', 'command'].includes(this.#stage);
    if (!isRead || io.handOver === undefined || this.#command?.hasExchange) return null;
    const { descriptors, state: unsent } = io.handOver(this.stream);
    const isHeader = this.#stage === 'proxy-header';
    const { hasProxyHeader, isFromTls, isUnix, protocols } = this.arrival;
    const bind = this.#command?.captureBind?.() ?? null;
    const { record } = this.#account ?? {};
    return {
      kind: 'request',
      descriptors: bind === null ? descriptors : [...descriptors, bind.fd],
      arrival: { hasProxyHeader, isFromTls, isUnix, protocols },
      client: isHeader ? null : { address: this.client.address, port: this.client.port },
      isProxied: this.isProxied,
      bytes: this.#sent?.toString('base64') ?? '',
      unsent: unsent?.toString('base64') ?? '',
      isGreeted: this.#isGreeted,
      login: record
        ? {
            accountId: record.id,
            username: record.username,
            exit: this.#exit,
            isByAddress: this.isByAddress,
            linkHash: this.linkHash,
          }
        : null,
      bind: bind === null ? null : { expected: bind.expected, leftMs: bind.leftMs },
    };
  }

  /** A persistent HTTP connection waits for its next request like a new connection; each request logs in. */
  awaitRequest(rest: Buffer): void {
    this.#stage = 'handshake';
    this.#protocol = new HttpProxy(this.host.settings.http);
    this.#command = null;
    this.#account = null;
    this.#sent = null;
    this.#beginHandshake(this.#source());
    if (rest.length > 0 && this.#stage === 'handshake') this.#take(rest);
  }

  /** @param source the source that the handshake counts for; null: not known yet, or there is none */
  #beginHandshake(source: string | null): void {
    if (!this.host.handshakes.add(this, source)) return this.close();
    this.#timer = this.host.io.timer(this.host.settings.handshakeTimeoutMs, () => this.close());
    this.#listen();
  }

  #source(): string | null {
    const { address } = this.client;
    return address === UNIX_CLIENT ? null : sourceOf(address);
  }

  /** For another worker. The socket stays open. */
  handOver(): Buffer {
    const sent = this.#sent ?? Buffer.alloc(0);
    this.#stage = 'closed';
    this.#timer?.clear();
    this.host.handshakes.delete(this);
    return sent;
  }

  #listen(): void {
    this.stream.listener = this;
    this.stream.resume();
  }

  // ── Stream listener ──────────────────────────────────────────────────────────────────────────────────────────────

  onData(chunk: Buffer): void {
    if (this.#stage === 'refused' || this.#stage === 'closed') return;
    // The engine overwrites `chunk` after this call.
    const bytes = Buffer.from(chunk);
    if (this.#stage === 'proxy-header') this.#readProxyHeader(bytes);
    else if (this.#stage === 'handshake') this.#take(bytes);
    else {
      this.#keep(bytes);
      this.#command?.keepEarly(bytes);
    }
  }

  onEnd(): void {
    // The client ended before its request was complete, or it has received its refusal: nothing is left to do.
    this.close();
  }

  onFailed(): void {
    this.close();
  }

  // ── PROXY header ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** A malformed header closes the connection: what follows may come from a client that must not be served. */
  #readProxyHeader(bytes: Buffer): void {
    const sent = this.#keep(bytes);
    const header = parseProxyHeader(sent);
    if (header.kind === 'more') return;
    if (header.kind === 'malformed') {
      this.host.log.warn({ client: this.client.address }, 'malformed PROXY header');
      return this.close();
    }
    if (header.client !== null) {
      this.client = header.client;
      this.isProxied = true;
    }
    const rest = sent.subarray(header.length);
    this.#sent = null;
    this.#stage = 'handshake';
    const source = this.#source();
    if (source !== null && !this.host.handshakes.setSource(this, source)) return this.close();
    if (rest.length > 0) this.#take(rest);
  }

  // ── Handshake: methods, login, request ───────────────────────────────────────────────────────────────────────────

  #keep(bytes: Buffer): Buffer {
    this.#sent = this.#sent === null ? bytes : Buffer.concat([this.#sent, bytes]);
    return this.#sent;
  }

  #take(bytes: Buffer): void {
    this.#keep(bytes);
    this.#protocol ??= protocolOf(bytes[0], this.arrival.protocols, this.host.settings.http);
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
          this.#isGreeted = true;
          break;
        case 'refuse':
          return this.refuse(step.bytes);
        case 'login':
        case 'address-login':
          if (!this.#logIn(protocol, step)) return;
          break;
        case 'request':
          return this.#requested(protocol, step);
      }
    }
  }

  /** False: refused, or passed on to the worker of the account. */
  #logIn(protocol: ClientProtocol, step: LoginStep): boolean {
    if (this.#login !== null) return this.#isStillLoggedIn(protocol, this.#login);
    this.isByAddress = step.kind === 'address-login';
    const username = step.kind === 'login' ? step.username : this.host.logins.authorizedName(this.client);
    if (username !== null && this.host.connections.passOn(this, username)) return false;
    this.#exit = null;
    this.linkHash = null;
    if (username === null) this.host.logins.withoutCredentials(this.client, protocol.asksForCredentials);
    else if (step.kind === 'address-login')
      this.#account = this.host.logins.logInByAddress(this.client, username);
    else {
      const loggedIn = this.host.logins.logIn(this.client, username, step.password);
      this.#account = loggedIn?.account ?? null;
      this.#exit = loggedIn?.exit ?? null;
      this.linkHash = loggedIn?.linkHash ?? null;
      if (this.#account !== null && protocol.asksForCredentials)
        this.host.logins.gaveCredentials(this.client);
    }
    if (this.#account === null) {
      this.refuse(protocol.loginFailed);
      return false;
    }
    const accepted = protocol.accept();
    if (accepted !== null) this.stream.write(accepted);
    return true;
  }

  /** The client has logged in at the process before this one, and has got the answer. */
  #isStillLoggedIn(protocol: ClientProtocol, { accountId, exit, ...login }: HandedLogin): boolean {
    this.isByAddress = login.isByAddress;
    this.linkHash = login.linkHash;
    this.#exit = exit;
    this.#account = this.host.accounts.byId(accountId) ?? null;
    if (this.#account === null) this.close();
    else protocol.accept();
    return this.#account !== null;
  }

  // ── The command ──────────────────────────────────────────────────────────────────────────────────────────────────

  #requested(protocol: ClientProtocol, step: RequestStep): void {
    const account = this.#account;
    if (account === null) return this.close();
    const { request, forward } = step;
    const use = request.command === 'udp' ? 'association' : forward === undefined ? 'connection' : 'exchange';
    const admission = new Admission(this.host, this, account, this.#exit, request, (admitted) => {
      if (admitted.ok) return this.#run(protocol, step, admitted);
      const { reply, waitMs } = admitted;
      this.refuse((waitMs === undefined ? null : protocol.tooMany?.(waitMs)) ?? protocol.reply(reply));
    });
    this.#admission = admission;
    if (!admission.start(use)) return;
    // Until then, the handshake and its time limit go on.
    this.#stage = 'permit';
    this.stream.pause();
  }

  #run(protocol: ClientProtocol, step: RequestStep, authorized: AuthorizedRequest): void {
    const { request, rest, forward = null } = step;
    this.#handshakeOver();
    if (request.command === 'udp') {
      this.#stage = 'associated';
      this.#sent = null;
      this.stream.resume();
      return associate(this.host, this, authorized);
    }
    this.#stage = 'command';
    this.stream.pause();
    this.#command = new RunningCommand(this.host, this, protocol, forward, rest);
    this.#login = null;
    if (request.command === 'connect') startConnect(this.#command, authorized);
    else startBind(this.#command, authorized, this.#listener);
  }

  #handshakeOver(): void {
    this.#stopWaiting();
    this.host.handshakes.delete(this);
  }

  #stopWaiting(): void {
    this.#admission?.cancel();
    this.#admission = null;
    this.#timer?.clear();
    this.#timer = null;
  }

  // ── The end ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Sends `frame` and closes. What the client still sends is read and dropped until it closes too, because closing
   * over unread bytes makes the kernel send a reset, and a reset can overtake the frame. Until then it counts as a
   * handshake, so that refused clients that stay open make room for others; when few places are left, it is closed at once.
   */
  refuse(frame: Uint8Array): void {
    if (this.#stage === 'closed' || this.#stage === 'refused') return;
    this.#stopWaiting();
    this.#stage = 'refused';
    this.#sent = null;
    this.#timer = this.host.io.timer(LINGER_MS, () => this.close());
    this.stream.write(frame);
    this.stream.shutdown();
    if (this.host.connections.isNearlyFull) return this.close();
    this.#listen();
    if (!this.host.handshakes.addRefused(this, this.#source())) this.close();
  }

  /** A relay replaces this connection. */
  relayed(): void {
    this.#stage = 'closed';
    this.host.connections.relayed(this);
  }

  /** Closes immediately, in every stage. */
  close(): void {
    if (this.#stage === 'closed') return;
    // An exchange closes both its streams, and then calls `closed`.
    if (this.#command?.endsExchange()) return;
    this.#command?.abandon();
    this.stream.close();
    this.closed();
  }

  closed(): void {
    this.#stage = 'closed';
    this.#handshakeOver();
    const unused = this.#listener?.isTaken ? null : this.#listener;
    this.#listener = null;
    if (unused !== null) closeListener(this.host.io, unused.fd);
    this.host.connections.closed(this);
  }
}

function closeListener(io: WorkerHost['io'], fd: number): void {
  const onConnection = (stream: Stream): void => stream.close();
  io.listen({ address: '', port: 0, fd, onConnection }, (result) => result.ok && result.close());
}
