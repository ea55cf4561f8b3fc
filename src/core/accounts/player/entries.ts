// The ways of an account to the server, as entries of the configurations of client programs: every listener that players can reach,
// those with a certificate first, by every exit that the account may choose.
import { isLoopback } from '../../addresses/ip.js';
import type { PlayerListener, PlayerServer } from '../../nodes/nodes.js';

export interface Entry {
  /** Unique among the entries of an account. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly isSocks: boolean;
  readonly isHttp: boolean;
  readonly hasUdp: boolean;
  readonly username: string;
  readonly password: string;
}

/** @param exits names of those that the account may choose */
export function entriesOf(
  servers: readonly PlayerServer[],
  { username, password }: { readonly username: string; readonly password: string },
  exits: readonly string[],
): readonly Entry[] {
  // Nodes behind one load balancer have the same address.
  const ways = [...new Map(servers.flatMap(reached).map((way) => [`${way.host} ${way.port}`, way])).values()];
  ways.sort((one, other) => Number(other.isTls) - Number(one.isTls));
  const hasHosts = new Set(ways.map(({ host }) => host)).size > 1;
  const isOnly = (way: Way): boolean =>
    ways.every((each) => each === way || each.host !== way.host || each.isTls !== way.isTls);
  return [null, ...exits].flatMap((exit) =>
    ways.map((way): Entry => {
      const { server, host, port, isTls, protocols } = way;
      const place = (hasHosts ? server : host) + (isOnly(way) ? '' : `:${port}`);
      const isSocks = protocols.includes('socks5');
      return {
        name: [place, isTls ? 'TLS' : '', exit ?? ''].filter((part) => part !== '').join(' '),
        host,
        port,
        isTls,
        isSocks,
        isHttp: protocols.includes('http'),
        hasUdp: isSocks && way.hasUdp,
        username: exit === null ? username : `${username}+${exit}`,
        password,
      };
    }),
  );
}

interface Way extends PlayerListener {
  readonly server: string;
  readonly host: string;
}

/** Players reach no loopback address, but the main listener may be behind something that they reach. */
function reached({ name, host, port, listeners }: PlayerServer): Way[] {
  const isLocal = host === 'localhost' || isLoopback(host);
  return listeners
    .filter(({ isMain, address }) => isMain || isLocal || !isLoopback(address))
    .map((each) => ({ ...each, server: name, host, port: each.isMain ? port : each.port }));
}
