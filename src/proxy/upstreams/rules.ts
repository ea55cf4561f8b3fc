// Which destinations are reached through an upstream SOCKS5 proxy, and which one that is.
import { readDestination } from '../../core/heartbeats/game-destination.js';
import type { IpBytes } from '../../core/ip.js';

/** An upstream proxy. */
export interface Upstream {
  /** What it speaks. HTTP proxies carry no datagrams. */
  readonly protocol: 'socks5' | 'http';
  readonly host: string;
  readonly port: number;
  /** RFC 1929 credentials; null: the upstream asks for none. */
  readonly login: { readonly username: string; readonly password: string } | null;
  /** Who resolves names of destinations. */
  readonly names: 'here' | 'proxy';
}

export interface UpstreamRule {
  /** Every part is optional, as in game rules. */
  readonly match: {
    readonly hosts?: readonly string[] | undefined;
    readonly ports?: readonly (number | string)[] | undefined;
  };
  /** null: reached directly, an exception from the rules after it. */
  readonly upstream: Upstream | null;
}

export interface Upstreams {
  /** Everything is reached directly. */
  readonly isEmpty: boolean;
  /** The upstream that takes a name as it is; null when the name is to be resolved here. */
  selectForName(host: string, port: number): Upstream | null;
  /** The upstream of a destination with its address; null when it is reached directly. `host` is the name or the address. */
  select(host: string, ip: IpBytes, port: number): Upstream | null;
}

/**
 * Reads the rules, of which the first that matches wins. A name that has not been resolved is held against the names of
 * the rules only. Throws GameRuleError for a rule that cannot be read.
 */
export function createUpstreams(rules: readonly UpstreamRule[]): Upstreams {
  const read = rules.map(({ match, upstream }, i) => ({
    matches: readDestination(match, `[${i}].match`),
    upstream,
  }));
  const first = (host: string, ip: IpBytes | null, port: number): Upstream | null =>
    read.find(({ matches }) => matches({ host, ip, port, protocol: 'tcp' }))?.upstream ?? null;
  return {
    isEmpty: rules.length === 0,
    selectForName(host, port) {
      const upstream = first(host, null, port);
      return upstream?.names === 'proxy' ? upstream : null;
    },
    select: first,
  };
}
