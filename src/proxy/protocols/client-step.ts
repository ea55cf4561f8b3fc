// The steps of a handshake with an upstream proxy, independent of its protocol.
import type { Endpoint } from '../../core/addresses/ip.js';
import { Reply, type ReplyCode } from './socks5.js';

export type ClientStep =
  /** More bytes are needed. */
  | { readonly kind: 'more' }
  /** Send this and call `next` again. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** The proxy has connected. `rest` is what followed its reply. */
  | {
      readonly kind: 'done';
      readonly bound: Endpoint;
      readonly rest: Buffer | null;
    }
  /** `reply` is for our client, `reason` for the log. */
  | { readonly kind: 'failed'; readonly reply: ReplyCode; readonly reason: string };

/** The proxy would take a request. */
export const GREETED: ClientStep = { kind: 'done', bound: { address: '0.0.0.0', port: 0 }, rest: null };

export interface UpstreamExchange {
  /** Adds bytes; the boundaries of chunks do not matter. */
  feed(bytes: Buffer): void;
  /** The next step; the first needs no bytes. After 'done' and 'failed' the handshake is over. */
  next(): ClientStep;
}

export function failed(reason: string): ClientStep {
  return { kind: 'failed', reply: Reply.generalFailure, reason };
}
