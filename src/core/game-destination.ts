// The destination part of a game rule: hosts, ports and protocol, read once and compared for every flow.
import type { Protocol } from './heartbeat.js';

/** Every part is optional; a part that is left out matches everything. */
export interface GameMatch {
  /** Exact names, `*.example.com` (any name below it, not itself), addresses and CIDR blocks. */
  readonly hosts?: readonly string[] | undefined;
  /** Single ports and ranges: `7000`, `"7100-7200"`. */
  readonly ports?: readonly (number | string)[] | undefined;
  readonly protocol?: Protocol | undefined;
}

/** A game rule that cannot be read. `path` is the place in the list of rules, such as `[2].match.ports[0]`. */
export class GameRuleError extends Error {
  override readonly name = 'GameRuleError';

  constructor(
    readonly path: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function parseDestination(): void {}
