// Where sockets towards the outside leave the machine, as an exit says.

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
