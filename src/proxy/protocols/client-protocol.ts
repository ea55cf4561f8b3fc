// What a client may speak to us, from its first byte to the answer to its request. Bytes in, steps out: an implementation
// knows no socket and no clock.
import type { ClientProtocolName } from '../../core/sessions/session.js';
import type { ClientRequest } from './client-request.js';
import type { ForwardedRequest } from './http/forward.js';
import type { ReplyCode } from './socks5.js';

export type HandshakeStep =
  /** The bytes so far are incomplete. */
  | { readonly kind: 'more' }
  /** Send this and ask for the next step. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** Check the credentials; then `accept`, or send `loginFailed` and close. */
  | { readonly kind: 'login'; readonly username: Uint8Array; readonly password: Uint8Array }
  /** The client has no credentials: find its account by its address; then as for 'login'. */
  | { readonly kind: 'address-login' }
  /** The handshake is over. `rest` is what the client sent behind its request. */
  | {
      readonly kind: 'request';
      readonly request: ClientRequest;
      readonly rest: Buffer | null;
      /** A request of HTTP that is to be forwarded instead of opening a tunnel. */
      readonly forward?: ForwardedRequest;
    }
  /** Send this and close. */
  | { readonly kind: 'refuse'; readonly bytes: Uint8Array };

export interface ClientProtocol {
  readonly name: ClientProtocolName;
  /** Takes bytes in, cut anywhere; they are kept. */
  feed(bytes: Buffer): void;
  /** What to do next. After 'request' and 'refuse' the handshake is spent. */
  next(): HandshakeStep;
  /** The client is logged in: send what this returns; null: nothing. */
  accept(): Uint8Array | null;
  /** What a client is sent that is not logged in, whatever the reason. */
  readonly loginFailed: Uint8Array;
  /** Whether `loginFailed` asks for credentials: clients then send their first request without any. */
  readonly asksForCredentials: boolean;
  /** The answer to the request. Of a refusal only the code counts. */
  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): Uint8Array;
}
