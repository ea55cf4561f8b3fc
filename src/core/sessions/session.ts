// A live SOCKS session: who is connected, where to, what it moves, and how to end it.

/** The transport of a session's traffic. */
export type Protocol = 'tcp' | 'udp';

/** Why a session ended; goes into its log line. */
export type SessionEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed'
  | 'idle-timeout'
  | 'half-close-timeout'
  | 'account-removed'
  | 'account-renamed'
  | 'account-disabled'
  | 'account-expired'
  | 'password-changed'
  | 'address-removed'
  | 'client-not-allowed'
  | 'outside-schedule'
  | 'ended-by-operator'
  | 'over-quota'
  | 'limits-changed'
  | 'shutdown';

/** What the client of a session speaks. */
export type ClientProtocolName = 'socks5' | 'socks4' | 'http';

/** What is known of a session at its end. */
export interface SessionSummary {
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly end: SessionEnd;
  /** By a monotonic clock. */
  readonly durationMs: number;
  readonly gameId: string | null;
  readonly datagramsUp?: number;
  readonly datagramsDown?: number;
  readonly dropped?: Readonly<Record<string, number>>;
}

/** One relayed connection (CONNECT, BIND) or UDP association, as the control plane sees it. */
export interface Session {
  /** GUID. */
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command: 'connect' | 'bind' | 'udp-associate';
  readonly protocol: Protocol;
  readonly clientProtocol: ClientProtocolName;
  readonly client: { readonly address: string; readonly port: number };
  /** `host` is what the client asked for, `address` what was dialled. */
  readonly destination: { readonly host: string; readonly address: string; readonly port: number };
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  readonly gameId: string | null;
  /** The upstream proxy it goes through, as `host:port`; null when it goes directly. */
  readonly via: string | null;
  /** Bytes client to destination, as of the last count. */
  readonly bytesUp: number;
  /** Bytes destination to client, as of the last count. */
  readonly bytesDown: number;
  /** Counts anew; returns whether bytes have moved. For the registry alone, which publishes what has moved. */
  count(): boolean;
  /** Asks its worker to end both sides: it leaves the registry a moment later. Calling it twice does nothing more. */
  end(reason: SessionEnd): void;
}
