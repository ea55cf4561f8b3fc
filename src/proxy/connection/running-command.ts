// A connection while its command (CONNECT, BIND or one HTTP exchange) runs, from the authorized request to the relay.
import { type Endpoint, formatHostPort } from '../../core/addresses/ip.js';
import { type FlowInspector, inspectStream } from '../../core/egress/bittorrent.js';
import type { EgressDenial, EgressPolicy } from '../../core/egress/egress.js';
import type { Destination } from '../../core/sessions/session.js';
import type { HandedBind } from '../handover/state.js';
import type { Attempt, Stream } from '../io/io.js';
import { replyForRefusal } from '../memory/places.js';
import type { ClientProtocol } from '../protocols/client-protocol.js';
import type { ForwardedRequest } from '../protocols/http/forward.js';
import { type ClientRequest, Reply, type ReplyCode } from '../protocols/socks5.js';
import type { ExitUse } from '../upstreams/exits.js';
import type { LoggedInClient, WorkerAccount } from '../worker/account.js';
import type { WorkerHost } from '../worker/host.js';
import type { Permit } from '../worker/permits.js';
import type { SessionTransfer, WorkerSession } from '../worker/session.js';
import type { PayloadInspector } from '../worker/session-games.js';
import { type ExchangeOutcome, HttpExchange } from './http-exchange.js';
import { Relayed } from './relayed.js';
import { type Refusal, refusalFields } from './target.js';

const NOTHING = new Uint8Array(0);
/** Maximum of bytes that a client of BIND may send before its peer has connected; then it is refused. */
const MAX_EARLY_BYTES = 64 * 1024;

/** A listening socket of a BIND for another process, or of one. */
export interface HandedListener extends HandedBind {
  readonly fd: number;
  /** The command closes it. */
  isTaken?: boolean;
}

interface RefusedRequest extends Pick<WorkerSession, 'account' | 'client' | 'exit'> {
  readonly destination: Pick<Destination, 'host' | 'port'>;
}

/** The input of a command. */
export interface AuthorizedRequest {
  readonly account: WorkerAccount;
  readonly egress: EgressPolicy;
  /** The exit of the account, or the default; null: none. */
  readonly exit: ExitUse | null;
  readonly request: ClientRequest;
  /** For its session; null: none is needed. */
  readonly permit: Permit | null;
}

/** What a command uses of its connection: connection.ts, which imports this file. */
export interface CommandConnection extends LoggedInClient {
  readonly stream: Stream;
  refuse(frame: Uint8Array): void;
  /** The HTTP exchange has ended, and the client may send its next request. `rest`: what it has already sent of it. */
  awaitRequest(rest: Buffer): void;
  /** A relay replaces the connection. */
  relayed(): void;
  /** Closes immediately, in every stage. */
  close(): void;
  closed(): void;
}

export class RunningCommand implements SessionTransfer {
  /** Of the client. */
  readonly stream: Stream;
  readonly client: Endpoint;
  #session: WorkerSession | null = null;
  /** Set when a stream of BitTorrent is denied. */
  #bittorrent: EgressDenial | null = null;
  /** A connection attempt, or a wait for a peer. */
  #attempt: Attempt | null = null;
  #exchange: Relayed | null = null;
  /** The client has got its final reply, or a relay has replaced the connection. */
  #isOver = false;
  /** Set while a BIND waits for its peer: what another process needs to go on waiting. */
  captureBind: (() => HandedListener) | null = null;

  constructor(
    readonly host: WorkerHost,
    private readonly connection: CommandConnection,
    private readonly protocol: ClientProtocol,
    /** The request of HTTP that the session is for; null: its bytes are relayed. */
    readonly forward: ForwardedRequest | null,
    /** What the client sent after its request. */
    private early: Buffer | null,
  ) {
    this.stream = connection.stream;
    this.client = connection.client;
  }

  // ── What a command does with its connection ──────────────────────────────────────────────────────────────────────

  /** Opens the session of the command; null when a limit forbids it: then the client has been refused. */
  openSession(
    kind: 'connect' | 'bind',
    { account, permit, egress }: AuthorizedRequest,
    host: string,
    port: number,
  ): WorkerSession | null {
    const session = this.host.sessions.open({
      command: kind,
      clientProtocol: this.protocol.name,
      isByAddress: this.connection.isByAddress,
      linkHash: this.connection.linkHash,
      account,
      client: this.client,
      destination: { host, port },
      transfer: this,
      permit,
    });
    if (typeof session === 'string') {
      const fields = { account: account.record.username, client: this.client.address, reason: session };
      this.host.log.info(fields, 'session refused');
      this.refuseWith(replyForRefusal(session));
      return null;
    }
    this.#session = session;
    this.#bittorrent = egress.bittorrent;
    return session;
  }

  /** Cancels `attempt` when the connection ends before it. It may have succeeded or failed before this call. */
  wait(attempt: Attempt): void {
    if (!this.#isOver) this.#attempt = attempt;
  }

  /** While BIND waits for its peer: keeps what the client sends, and detects that the client has closed. */
  readWhileBinding(): void {
    this.stream.resume();
  }

  /** BIND keeps reading while it waits for the peer, to notice when the client closes. */
  keepEarly(bytes: Buffer): void {
    this.early = this.early === null ? bytes : Buffer.concat([this.early, bytes]);
    if (this.early.length > MAX_EARLY_BYTES && this.#session !== null)
      this.fail(this.#session, Reply.generalFailure, 'too-much-before-peer');
  }

  /**
   * Counts the local port of a connection to a destination as ours, before the destination can see a byte: an admin request
   * through the proxy is recognised by it. `relay` or `exchange` must follow at once.
   */
  markOutbound(port: number): void {
    this.host.ownPorts.add('tcp-outbound', port);
  }

  /** Relays between client and destination. The relay replaces the connection. */
  relay(
    session: WorkerSession,
    destination: Stream,
    outboundPort: number,
    inspect: PayloadInspector | null,
  ): void {
    this.#isOver = true;
    const early = this.early;
    new Relayed(this.host, { session, destination, outboundPort }, (listener) =>
      this.host.io.relay({
        client: this.stream,
        destination,
        early,
        inspect: inspectorOf(this.host, session, this.#bittorrent, inspect),
        meter: session,
        listener,
      }),
    );
    this.connection.relayed();
  }

  /** Sends the destination one request, and the client its answer. @param ahead what the destination has sent already */
  exchange(
    session: WorkerSession,
    destination: Stream,
    outboundPort: number,
    request: ForwardedRequest,
    inspect: PayloadInspector | null,
    ahead: Buffer | null,
  ): void {
    this.#isOver = true;
    const early = this.early;
    this.early = null;
    const { io, settings, ownPorts } = this.host;
    const release = (): void => {
      // Null: the session has ended before its connection, which continues.
      if (this.#exchange === null) return;
      this.#exchange = null;
      this.connection.closed();
    };
    const onOver = (outcome: ExchangeOutcome): void => {
      const relayed = this.#exchange;
      if (outcome.kind === 'cut-off') return relayed?.relayEnded(outcome.end);
      this.#exchange = null;
      this.#session = null;
      relayed?.finish(outcome.end);
      // 400 Bad Request.
      if (outcome.kind === 'malformed') return this.refuseWith(Reply.addressTypeNotSupported);
      if (outcome.kind === 'no-answer') return this.refuseWith(Reply.hostUnreachable);
      if (outcome.rest === null) this.connection.refuse(NOTHING);
      else this.connection.awaitRequest(outcome.rest);
    };
    const exchange = new HttpExchange({
      client: this.stream,
      destination,
      request,
      early,
      limits: settings.http,
      inspect,
      meter: session,
      onOver,
    });
    const host = { io, settings, ownPorts, connections: { release } };
    this.#exchange = new Relayed(host, { session, destination, outboundPort }, () => exchange);
    exchange.start(ahead);
  }

  /** The answer to the request. */
  reply(code: ReplyCode, boundAddress: string, boundPort: number): void {
    this.stream.write(this.protocol.reply(code, boundAddress, boundPort));
  }

  /** Ends the session before it is relayed, and sends the client `reply`. `reason` is for the log. */
  fail(session: WorkerSession, reply: ReplyCode, reason: Refusal): void {
    if (session.isEnded) return;
    this.#attempt?.cancel();
    this.#attempt = null;
    this.logRefusal(session, reason);
    session.abandon();
    this.refuseWith(reply);
  }

  /** Answers the request with a refusal, and closes. */
  refuseWith(code: ReplyCode): void {
    this.#isOver = true;
    this.early = null;
    this.connection.refuse(this.protocol.reply(code));
  }

  refuseDestination(account: WorkerAccount, host: string, port: number, reason: string): void {
    logRefusal(this.host, { account, client: this.client, destination: { host, port }, exit: null }, reason);
    this.refuseWith(Reply.notAllowedByRuleset);
  }

  logRefusal(session: WorkerSession, reason: Refusal): void {
    logRefusal(this.host, session, reason);
  }

  // ── The transfer of the session, until it is relayed ─────────────────────────────────────────────────────────────

  /** Ends the session for an external reason, or because its client has closed. */
  end(): void {
    this.connection.close();
  }

  /** A request of HTTP is being answered. */
  get hasExchange(): boolean {
    return this.#exchange !== null;
  }

  // ── Closing, called by the connection ────────────────────────────────────────────────────────────────────────────

  /** Cancels the running exchange, which closes the connection; false when there is none. */
  endsExchange(): boolean {
    if (this.#exchange === null) return false;
    this.#exchange.end('relay-failed');
    return true;
  }

  /** Cancels what the command waits for, and abandons its session. */
  abandon(): void {
    this.#isOver = true;
    this.#attempt?.cancel();
    this.#attempt = null;
    this.#session?.abandon();
  }
}

/** Logs why a destination could not be reached. */
function logRefusal(
  { log }: Pick<WorkerHost, 'log'>,
  { account, client, destination, exit }: RefusedRequest,
  refusal: Refusal,
): void {
  log.info(
    {
      account: account.record.username,
      client: client.address,
      destination: formatHostPort(destination.host, destination.port),
      ...refusalFields(refusal),
      ...(exit === null ? {} : { exit }),
    },
    'destination refused',
  );
}

/** What inspects the first client bytes of a relayed session, and ends it when they are a stream of BitTorrent that `denial` denies. */
export function inspectorOf(
  host: Pick<WorkerHost, 'log' | 'guards' | 'io'>,
  session: WorkerSession,
  denial: EgressDenial | null,
  inspect: PayloadInspector | null,
): FlowInspector | null {
  if (denial === null) return inspect;
  return inspectStream(() => {
    logRefusal(host, session, denial);
    host.guards.note(session.account, 'bittorrent', true, session.client.address);
    // The relay is at work with these bytes, and cannot be closed now.
    host.io.timer(0, () => session.end('bittorrent'));
  }, inspect);
}
