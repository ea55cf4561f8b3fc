// The secret addresses of players, as they are shown.
import type { ParameterizedContext } from 'koa';
import { type PlayerLinkKind, playerPath } from '../../core/accounts/player-links.js';
import { isSecure } from '../client.js';
import type { AdminState } from '../state.js';
import type { PlayerPageSettings } from './settings.js';

/** @param ctx the request, which names this server where `admin.playerPage.url` is not set */
export function playerUrl(
  { url }: PlayerPageSettings,
  ctx: ParameterizedContext<AdminState>,
  kind: PlayerLinkKind,
  token: string,
): string {
  const origin = url ?? `${isSecure(ctx.req) ? 'https' : 'http'}://${ctx.host}`;
  return origin + playerPath(kind, token);
}

/** Whether the daemon answers addresses of this kind. */
export const isServed = ({ enabled, pac }: PlayerPageSettings, kind: PlayerLinkKind): boolean =>
  kind === 'page' ? enabled : pac;
