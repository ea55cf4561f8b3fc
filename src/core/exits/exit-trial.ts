// A trial of an exit: a connection out through it, to a server that answers with the address that it sees.
import { parseIp } from '../ip.js';

export interface ExitTrialRequest {
  readonly exit: string;
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** What is sent. */
  readonly request: string;
}

export type ExitTrial =
  | {
      readonly ok: true;
      /** The local address of the connection, on this machine. */
      readonly local: string;
      readonly connectMs: number;
      /** The first address in the server's answer, the one that it sees; null: there is none in its first MAX_ANSWER_BYTES. */
      readonly seen: string | null;
    }
  /** `reason` as in the log: a system error code, or why a rule or a proxy refused. */
  | { readonly ok: false; readonly reason: string };

export const MAX_ANSWER_BYTES = 4096;

/** The first address in an HTTP answer's body; null: there is none. */
export function seenAddress(answer: string): string | null {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return body.split(/[^0-9a-f:.]+/i).find((word) => word.length > 2 && parseIp(word) !== null) ?? null;
}
