// The configuration of player pages and PAC files, and their addresses.
import type { ParameterizedContext } from 'koa';
import type { Account } from '../../core/accounts/account.js';
import type { AdminState } from '../caller.js';
import { isSecure } from '../guards/client.js';

/** `admin.playerPage` of the configuration. */
export interface PlayerPageSettings {
  readonly enabled: boolean;
  /** Whether links answer with PAC files too. */
  readonly pac: boolean;
  readonly outsideWhitelist: boolean;
  /** The start of players' addresses; null: the host name in the operator's request. */
  readonly url: string | null;
  /** Of a listener of its own; null: none. */
  readonly port: number | null;
  /** What programs call the service. */
  readonly title: string;
  /** Whom a player asks, and how; null: not told. Its first address (https:, mailto: or tg:) is given to programs. */
  readonly contact: string | null;
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

/** Returns the start of players' addresses. @param ctx the request, whose host names this server when `admin.playerPage.url` is not set */
export function playerOrigin(
  { url, port }: PlayerPageSettings,
  ctx: ParameterizedContext<AdminState>,
): string {
  if (url !== null) return url;
  const host = port === null ? ctx.host : ctx.host.replace(/(:\d+)?$/, `:${port}`);
  return `${isSecure(ctx.req) ? 'https' : 'http'}://${host}`;
}

/** The address of a subscription. */
export const subscriptionUrl = (origin: string, token: string): string => `${origin}/sub/${token}`;
