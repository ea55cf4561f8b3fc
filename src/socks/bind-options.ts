// What BIND is given by the wiring.

export interface BindOptions {
  readonly enabled: boolean;
  /** First and last port to wait on; null leaves it to the system. */
  readonly portRange: readonly [number, number] | null;
  /** What clients are told to have their peer connect to, at most one address a family. */
  readonly publicAddresses: readonly string[];
  /** How long one waits for its peer, in ms. */
  readonly timeoutMs: number;
  /** TCP ports that this process listens on: a port that waits is one of them. */
  readonly ownPorts: { add(port: number): void; delete(port: number): void };
  readonly random: () => number;
}
