// Where sockets are bound: towards the outside as an exit says, and the ports on which BIND and UDP ASSOCIATE try to listen.
import type { PortRange } from '../../core/addresses/endpoints.js';

/** The local end of sockets towards the outside. The node engine can do only `address`; else it fails with EOPNOTSUPP. */
export interface LocalEnd {
  /** An address of the family of the other end; null: the system chooses. */
  readonly address: string | null;
  /** The address need not be one of an interface: IPV6_FREEBIND (ipv6(7)). */
  readonly isFree: boolean;
  /** SO_BINDTODEVICE (socket(7)); null: every interface. */
  readonly interface: string | null;
  /** SO_MARK (socket(7)), for which the process needs CAP_NET_ADMIN; null: none. */
  readonly mark: number | null;
}

/** The ends by family; null: none towards this family. */
export interface LocalEnds {
  readonly ipv4: LocalEnd | null;
  readonly ipv6: LocalEnd | null;
}

/**
 * The ports of `range`, each once, beginning with a random one, so that others cannot guess the port of the client's side. Without
 * a range only 0: the system chooses a port.
 */
export function* candidatePorts(range: PortRange | null): Generator<number, undefined> {
  const [first, last] = range ?? [0, 0];
  const size = last - first + 1;
  const start = Math.floor(Math.random() * size);
  for (let i = 0; i < size; i += 1) yield first + ((start + i) % size);
}
