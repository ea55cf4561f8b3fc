// The interface of the protocols of clients, from the first byte to the reply. Implementations parse bytes and return
// steps; they use no socket and no clock.
import type { ClientProtocolName } from '../../core/sessions/session.js';
import type { ForwardedRequest } from './http/forward.js';
import type { ClientRequest, ReplyCode } from './socks5.js';

export type HandshakeStep =
  /** More bytes are needed. */
  | { readonly kind: 'more' }
  /** Send this and call `next` again. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** Check the credentials; then `accept`, or send `loginFailed` and close. */
  | { readonly kind: 'login'; readonly username: Uint8Array; readonly password: Uint8Array }
  /** The client has no credentials: find its account by its address; then as for 'login'. */
  | { readonly kind: 'address-login' }
  /** The handshake is complete. `rest` is what the client sent after its request. */
  | {
      readonly kind: 'request';
      readonly request: ClientRequest;
      readonly rest: Buffer | null;
      /** An HTTP request in absolute form, to forward instead of opening a tunnel. */
      readonly forward?: ForwardedRequest;
    }
  /** Send this and close. */
  | { readonly kind: 'refuse'; readonly bytes: Uint8Array };

/** The bytes that a handshake has not read yet; null: none. */
export abstract class Unread {
  protected unread: Buffer | null = null;

  /** Adds bytes; the boundaries of chunks do not matter. */
  feed(bytes: Buffer): void {
    this.unread = this.unread === null ? bytes : Buffer.concat([this.unread, bytes]);
  }
}

export interface ClientProtocol {
  readonly name: ClientProtocolName;
  /** Adds bytes; the boundaries of chunks do not matter. */
  feed(bytes: Buffer): void;
  /** The next step. After 'request' and 'refuse' the handshake is over. */
  next(): HandshakeStep;
  /** The login succeeded: returns what to send; null: nothing. */
  accept(): Uint8Array | null;
  /** The reply to a failed login, the same for every reason. */
  readonly loginFailed: Uint8Array;
  /** Whether `loginFailed` requests credentials: such clients send their first request without any. */
  readonly asksForCredentials: boolean;
  /** The refusal of a request that is one too many, and would be allowed after `waitMs`; left out: as any refusal by a rule. */
  tooMany?(waitMs: number): Uint8Array;
  /** The reply to the request. For a refusal only the code is used. */
  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): Uint8Array;
}
