// What the stages of a management request hand on to one another.
export interface AdminState {
  /** Client address, unmapped; see client.ts. */
  client: string;
}
