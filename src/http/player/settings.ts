// What the configuration says of the pages and PAC files of players.

/** `admin.playerPage` of the configuration. */
export interface PlayerPageSettings {
  readonly enabled: boolean;
  /** Whether PAC files are served. */
  readonly pac: boolean;
  readonly outsideWhitelist: boolean;
  /** What addresses of players begin with; null: as the operator's browser names this server. */
  readonly url: string | null;
  readonly mayChange: readonly ('password' | 'authorizedAddresses')[];
  readonly maxRequestsPerMinute: number;
  readonly maxChangesPerHour: number;
}

/** What browsers can speak to the players' listeners. */
export interface PacListeners {
  /** Of the first listener. */
  readonly protocols: readonly string[];
  /** Of listeners with a certificate that are HTTP proxies. */
  readonly httpsPorts: readonly number[];
}
