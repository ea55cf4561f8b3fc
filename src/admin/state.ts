// What the stages of a management request hand on to one another.
import type { Caller } from './caller.js';

export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
  /** Whether the client's connection is encrypted, here or at a trusted proxy. */
  isSecure: boolean;
  /** Set once the credentials were found good. */
  caller: Caller | undefined;
}
