// What an exchange with an upstream proxy asks for next, whichever protocol it speaks.
import type { ReplyCode } from './socks5.js';

export type ClientStep =
  /** The bytes so far are incomplete. */
  | { readonly kind: 'more' }
  /** Send this and ask for the next step. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** It has done it. `rest` is what came behind its reply. */
  | {
      readonly kind: 'done';
      readonly bound: { readonly address: string; readonly port: number };
      readonly rest: Buffer | null;
    }
  /** `reply` is the reply to our own client; `reason` is for the log. */
  | { readonly kind: 'failed'; readonly reply: ReplyCode; readonly reason: string };

export interface UpstreamExchange {
  /** Takes bytes in, cut anywhere; they are kept. */
  feed(bytes: Buffer): void;
  /** What to do next; the first step needs no bytes. After 'done' and 'failed' the exchange is over. */
  next(): ClientStep;
}
