// The configuration of player pages and PAC files.
import type { Account } from '../../core/accounts/account.js';

/** `admin.playerPage` of the configuration. */
export interface PlayerPageSettings {
  readonly enabled: boolean;
  /** Whether PAC files are served. */
  readonly pac: boolean;
  readonly outsideWhitelist: boolean;
  /** The start of players' addresses; null: the host name in the operator's request. */
  readonly url: string | null;
  readonly mayChange: readonly ('password' | 'authorizedAddresses')[];
  /** Fewest characters of a password that a player chooses. */
  readonly minCharacters: number;
  readonly maxRequestsPerMinute: number;
  readonly maxChangesPerHour: number;
}

/** Returns what a player may change. Only the administrator assigns client addresses, so the page of a seller's account does not. */
export const changeableOf = (
  { mayChange }: PlayerPageSettings,
  { owner }: Account,
): PlayerPageSettings['mayChange'] =>
  owner === null ? mayChange : mayChange.filter((what) => what !== 'authorizedAddresses');
