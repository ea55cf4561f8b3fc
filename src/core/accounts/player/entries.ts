// The ways of an account to the server, as entries of the configurations of client programs: every listener that players can reach,
// those with a certificate first, by every exit that the account may choose.
import { isLoopback } from '../../ip.js';

/** A listener of players. */
export interface PlayerListener {
  /** The address that it listens on, without brackets. */
  readonly address: string;
  readonly port: number;
  readonly protocols: readonly string[];
  readonly isTls: boolean;
  /** UDP ASSOCIATE is on. */
  readonly hasUdp: boolean;
  /** The one of `socks` itself: the public address of links is its. */
  readonly isMain: boolean;
}

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

/**
 * @param to the public address
 * @param exits names of those that the account may choose
 */
export function entriesOf(
  listeners: readonly PlayerListener[],
  to: { readonly host: string; readonly port: number },
  { username, password }: { readonly username: string; readonly password: string },
  exits: readonly string[],
): readonly Entry[] {
  const isLocal = to.host === 'localhost' || isLoopback(to.host);
  // Players reach no loopback address, but the main listener may be behind something that they reach.
  const reached = listeners.filter(({ isMain, address }) => isMain || isLocal || !isLoopback(address));
  const byPort = new Map(reached.map((each) => [each.isMain ? to.port : each.port, each]));
  const ports = [...byPort].sort(([, one], [, other]) => Number(other.isTls) - Number(one.isTls));
  const isOnly = (isTls: boolean): boolean => ports.filter(([, each]) => each.isTls === isTls).length === 1;
  return [null, ...exits].flatMap((exit) =>
    ports.map(([port, { isTls, protocols, hasUdp }]): Entry => {
      const place = isOnly(isTls) ? to.host : `${to.host}:${port}`;
      const isSocks = protocols.includes('socks5');
      return {
        name: [place, isTls ? 'TLS' : '', exit ?? ''].filter((part) => part !== '').join(' '),
        ...{
          host: to.host,
          port,
          isTls,
          isSocks,
          isHttp: protocols.includes('http'),
          hasUdp: isSocks && hasUdp,
        },
        username: exit === null ? username : `${username}+${exit}`,
        password,
      };
    }),
  );
}
