// The configuration of player pages and PAC files.

/** `admin.playerPage` of the configuration. */
export interface PlayerPageSettings {
  readonly enabled: boolean;
  /** Whether PAC files are served. */
  readonly pac: boolean;
  readonly outsideWhitelist: boolean;
  /** The start of players' addresses; null: the host name in the operator's request. */
  readonly url: string | null;
  readonly mayChange: readonly ('password' | 'authorizedAddresses')[];
  readonly maxRequestsPerMinute: number;
  readonly maxChangesPerHour: number;
}

/** The protocols that browsers can use with the players' listeners. */
export interface PacListeners {
  /** Protocols of the first listener. */
  readonly protocols: readonly string[];
  /** Ports of HTTP proxy listeners with a certificate. */
  readonly httpsPorts: readonly number[];
}
