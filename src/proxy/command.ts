// What a command (CONNECT, BIND) is given: the authorized request, and what it may do with the connection it came on.
import type { EgressPolicy } from '../core/egress/egress.js';
import type { Account } from './account.js';
import type { ConnectionContext } from './context.js';
import type { PayloadInspector } from './game-watch.js';
import type { Attempt, Endpoint, Stream } from './io/io.js';
import type { Permit } from './permits.js';
import type { ClientRequest } from './protocols/client-request.js';
import type { ForwardedRequest } from './protocols/http/forward.js';
import type { ReplyCode } from './protocols/socks5.js';
import type { Session } from './session.js';

export interface Command {
  readonly account: Account;
  readonly egress: EgressPolicy;
  readonly request: ClientRequest;
  /** For its session; null: none is needed. */
  readonly permit: Permit | null;
}

export interface CommandConnection {
  readonly host: ConnectionContext;
  /** Of the client. */
  readonly stream: Stream;
  readonly client: Endpoint;
  /** The request of HTTP that the session is for; null: its bytes are relayed. */
  readonly forward: ForwardedRequest | null;
  /** Opens the session of a command; null when there is no room for it, and the client has been refused. */
  openSession(kind: 'connect' | 'bind', command: Command, host: string, port: number): Session | null;
  /** `attempt` is given up when the connection ends meanwhile. It may have succeeded or failed before this call. */
  wait(attempt: Attempt): void;
  /** BIND waits for its peer: what the client sends meanwhile is kept for it, and its end is noticed. */
  readWhileBinding(): void;
  /**
   * Counts the local port of a connection to a destination as ours, before the destination can see a byte: an admin request
   * through the proxy is recognised by it. `relay` or `exchange` must follow at once.
   */
  markOutbound(port: number): void;
  /** Joins client and destination. The connection is over by this: its place is taken. */
  relay(session: Session, destination: Stream, outboundPort: number, inspect: PayloadInspector | null): void;
  /** Sends the destination one request, and the client its answer. @param ahead what the destination has sent already */
  exchange(
    session: Session,
    destination: Stream,
    outboundPort: number,
    request: ForwardedRequest,
    inspect: PayloadInspector | null,
    ahead: Buffer | null,
  ): void;
  /** The answer to the request. */
  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): void;
  /** The session ends before it is relayed, and the client is sent `reply`. `reason`: for the log. */
  fail(session: Session, reply: ReplyCode, reason: string): void;
  /** Answers the request with a refusal, and closes. */
  refuseWith(code: ReplyCode): void;
  refuseDestination(account: Account, host: string, port: number, reason: string): void;
  logRefusal(session: Session, reason: string): void;
}
