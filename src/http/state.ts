// The state of an admin request that its middleware shares.
import type { Caller } from './caller.js';

export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
  /** An untrusted peer forwarded the request. Routes for local clients refuse it. */
  isForwarded: boolean;
  /** Every host, with its port, that the request names. */
  hosts: readonly string[];
  /** Set by authentication. */
  caller: Caller | undefined;
  /** Id of the account whose secret address the request uses. */
  player?: string;
}
