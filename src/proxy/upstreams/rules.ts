// The rules that select the upstream proxy of a destination.
import type { IpBytes } from '../../core/addresses/ip.js';
import type { ProxyAddress } from '../../core/exits/exit.js';
import { readDestination } from '../../core/heartbeats/game-destination.js';

/** An upstream proxy. HTTP proxies do not support UDP. */
export interface Upstream extends ProxyAddress {
  /** Credentials; null: none. */
  readonly login: { readonly username: string; readonly password: string } | null;
  /** Where names of destinations are resolved. */
  readonly names: 'here' | 'proxy';
  /** The name of the exit that it belongs to. */
  readonly exit: string;
  /** See upstreamId. */
  readonly id: string;
}

export interface UpstreamRule {
  /** Every key is optional, as in game rules. */
  readonly match: {
    readonly hosts?: readonly string[] | undefined;
    readonly ports?: readonly (number | string)[] | undefined;
  };
  /** null: connect directly, an exception to later rules. */
  readonly upstream: Upstream | null;
}

/**
 * Reads the rules; the first match wins. A name that is not resolved is compared only with names in the rules. Throws
 * GameRuleError for an invalid rule.
 */
export function createUpstreams(rules: readonly UpstreamRule[]) {
  const read = rules.map(({ match, upstream }, i) => ({
    matches: readDestination(match, `[${i}].match`),
    upstream,
  }));
  const first = (host: string, ip: IpBytes | null, port: number): Upstream | null | undefined =>
    read.find(({ matches }) => matches({ host, ip, port, protocol: 'tcp' }))?.upstream;
  return {
    /** There are no rules: all connections are direct. */
    isEmpty: rules.length === 0,
    /** What the first rule that matches says about a name; null: connect directly; undefined: no rule matches. */
    selectForName: (host: string, port: number) => first(host, null, port),
    /** The same for a destination with a known address. `host` is the name or the address. */
    select: (host: string, ip: IpBytes, port: number) => first(host, ip, port),
  };
}
