// /api/v1/accounts/{id}/player-link: the secret address of the player's own page, made and revoked.
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import type { Accounts } from '../../../core/accounts/accounts.js';
import type { PlayerLinks } from '../../../core/accounts/player-links.js';
import { actorOf } from '../../caller.js';
import { isSecure } from '../../client.js';
import type { PlayerPageSettings } from '../../player/status.js';
import type { AdminState } from '../../state.js';
import type { ProblemAnswer } from '../problem.js';
import { routesOf } from '../route.js';
import { IdParams, Time } from '../schemas.js';
import { iso, isoOrNull } from '../times.js';
import { NO_ACCOUNT } from './shared.js';

const PlayerLink = z
  .object({
    /** Whether the daemon serves the player's page: `admin.playerPage.enabled`. */
    isServed: z.boolean(),
    /** When the address was made; null: there is none. */
    createdAt: Time.nullable(),
  })
  .meta({ id: 'PlayerLink' });

const NewPlayerLink = z
  .object({
    /** Shown once. Whoever has it sees the account and may change what `admin.playerPage.mayChange` lists. */
    url: z.string(),
    createdAt: Time,
    /** `browser`: the address begins as this request names the server, since `admin.playerPage.url` is not set. */
    guess: z.enum(['browser']).nullable(),
  })
  .meta({ id: 'NewPlayerLink' });

export interface PlayerLinkUses {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly playerLinks: PlayerLinks;
  readonly playerPage: PlayerPageSettings;
}

const { route } = routesOf<PlayerLinkUses>('Accounts');
const path = '/api/v1/accounts/{id}/player-link';

export const playerLinkRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'getPlayerLink',
      summary: 'Whether the account has a secret address of a page of its own.',
      access: 'accounts:read',
      request: { params: IdParams },
      responses: { 200: { description: 'Since when.', schema: PlayerLink } },
      problems: [404],
    },
    async ({ params }, uses) => {
      const account = accountOf(uses, params.id);
      if (!account) return NO_ACCOUNT;
      const link = await uses.playerLinks.get(account.id, 'page');
      const body = { isServed: uses.playerPage.enabled, createdAt: isoOrNull(link?.createdAt ?? null) };
      return { status: 200, body };
    },
  ),
  route(
    {
      method: 'POST',
      path,
      operationId: 'createPlayerLink',
      summary: 'Makes the secret address of the player’s page anew; the one before opens nothing any more.',
      access: 'accounts:write',
      request: { params: IdParams },
      responses: { 201: { description: 'The address, shown once.', schema: NewPlayerLink } },
      problems: [404, 409],
    },
    async ({ params, caller, ctx }, uses) => {
      const account = accountOf(uses, params.id);
      if (!account) return NO_ACCOUNT;
      const { enabled, url } = uses.playerPage;
      if (!enabled) return PAGE_OFF;
      const { token, createdAt } = await uses.playerLinks.create(account, 'page', actorOf(caller));
      const body = {
        url: `${url ?? originOf(ctx)}/player/${token}`,
        createdAt: iso(createdAt),
        guess: url === null ? 'browser' : null,
      };
      return { status: 201, body };
    },
  ),
  route(
    {
      method: 'DELETE',
      path,
      operationId: 'revokePlayerLink',
      summary: 'Revokes the secret address of the player’s page.',
      access: 'accounts:write',
      request: { params: IdParams },
      responses: { 204: { description: 'The address opens nothing any more.' } },
      problems: [404],
    },
    async ({ params, caller }, uses) => {
      const account = accountOf(uses, params.id);
      if (!account) return NO_ACCOUNT;
      const isRevoked = await uses.playerLinks.revoke(account, 'page', actorOf(caller));
      return isRevoked ? { status: 204 } : NO_LINK;
    },
  ),
];

const NO_LINK: ProblemAnswer = { problem: 'not-found', detail: 'the account has no such address' };

const PAGE_OFF: ProblemAnswer = {
  problem: 'conflict',
  detail: 'the daemon does not serve the page of players; set admin.playerPage.enabled',
};

function accountOf({ accounts }: PlayerLinkUses, id: string) {
  return accounts.get(id.toLowerCase())?.account ?? null;
}

/** As the caller names this server. */
function originOf(ctx: ParameterizedContext<AdminState>): string {
  return `${isSecure(ctx.req) ? 'https' : 'http'}://${ctx.host}`;
}
