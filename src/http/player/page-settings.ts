// The configuration of player pages and PAC files, and their addresses.
import type { ParameterizedContext } from 'koa';
import type { Account } from '../../core/accounts/account.js';
import { type PlayerLinkKind, playerPath } from '../../core/accounts/player/player-links.js';
import type { AdminState } from '../caller.js';
import { isSecure } from '../guards/client.js';

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

/** @param ctx the request, whose host names this server when `admin.playerPage.url` is not set */
export function playerUrl(
  { url }: PlayerPageSettings,
  ctx: ParameterizedContext<AdminState>,
  kind: PlayerLinkKind,
  token: string,
): string {
  const origin = url ?? `${isSecure(ctx.req) ? 'https' : 'http'}://${ctx.host}`;
  return origin + playerPath(kind, token);
}

/** Returns whether the daemon answers addresses of this kind. */
export const isServed = ({ enabled, pac }: PlayerPageSettings, kind: PlayerLinkKind): boolean =>
  kind === 'page' ? enabled : pac;
