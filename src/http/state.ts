// What the middleware of an admin request knows of it.
import type { Caller } from './caller.js';

export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
  /** An untrusted peer forwarded it: routes for local clients refuse this request. */
  isForwarded: boolean;
  /** Every host that the request names, with its port. */
  hosts: readonly string[];
  /** Set by authentication. */
  caller: Caller | undefined;
  /** Id of the account whose secret address the request came by. */
  player?: string;
}
