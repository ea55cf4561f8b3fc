// The input of a command (CONNECT, BIND): the authorized request, and the operations on its connection.
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
  /** Opens the session of a command; null when no slot is free: then the client has been refused. */
  openSession(kind: 'connect' | 'bind', command: Command, host: string, port: number): Session | null;
  /** Cancels `attempt` when the connection ends before it. It may have succeeded or failed before this call. */
  wait(attempt: Attempt): void;
  /** While BIND waits for its peer: keeps what the client sends, and detects that the client has closed. */
  readWhileBinding(): void;
  /**
   * Counts the local port of a connection to a destination as ours, before the destination can see a byte: an admin request
   * through the proxy is recognised by it. `relay` or `exchange` must follow at once.
   */
  markOutbound(port: number): void;
  /** Relays between client and destination. The relay replaces the connection. */
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
  /** Ends the session before it is relayed, and sends the client `reply`. `reason` is for the log. */
  fail(session: Session, reply: ReplyCode, reason: string): void;
  /** Answers the request with a refusal, and closes. */
  refuseWith(code: ReplyCode): void;
  refuseDestination(account: Account, host: string, port: number, reason: string): void;
  logRefusal(session: Session, reason: string): void;
}
