// What the engine hands over of open sockets: their descriptors, and the bytes that it has read and not sent. Plain data, because it
// goes to another process.

/** One direction of a relay. That it has ended is found again: the socket still says so. */
export interface HandedFlow {
  /** Read from the source and not sent, in base64. */
  readonly unsent: string;
  /** Whether the session's counts include them: under a rate, bytes are counted when they are sent. */
  readonly isCounted: boolean;
}

export interface HandedPair {
  readonly up: HandedFlow;
  readonly down: HandedFlow;
}

/** The sockets of an association: that of the client, and those towards destinations. */
export interface HandedDatagrams {
  readonly families: readonly ('ipv4' | 'ipv6')[];
  readonly counts: {
    readonly datagramsUp: number;
    readonly datagramsDown: number;
    readonly unsendable: number;
    readonly overRate: number;
  };
}

/** `Described`, and its descriptors in their order. */
export interface Handed<Described> {
  readonly descriptors: readonly number[];
  readonly state: Described;
}
