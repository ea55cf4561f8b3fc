// What the stages of a management request hand on to one another.
import type { Caller } from './caller.js';

export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
  /** Set once the credentials were found good. */
  caller: Caller | undefined;
}
