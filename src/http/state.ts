// What the stages of a admin request hand on to one another.
import type { Caller } from './caller.js';

export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
  /** Somebody whom `client` may not name asks through it: what is for local clients only is not for this request. */
  isForwarded: boolean;
  /** Every host that the request names, with its port. */
  hosts: readonly string[];
  /** Set once the credentials were found good. */
  caller: Caller | undefined;
}
