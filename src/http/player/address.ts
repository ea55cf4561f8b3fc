// Builds the secret addresses of players.
import type { ParameterizedContext } from 'koa';
import { type PlayerLinkKind, playerPath } from '../../core/accounts/player/player-links.js';
import { isSecure } from '../client.js';
import type { AdminState } from '../state.js';
import type { PlayerPageSettings } from './settings.js';

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
