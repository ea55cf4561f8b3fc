// /api/v1/accounts/{id}/player-link and …/pac-link: the secret addresses of an account's player page and of its PAC file.
import { z } from 'zod';
import type { PlayerLinkKind } from '../../../core/accounts/player/player-links.js';
import { iso, isoOrNull } from '../../../core/clock.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { because } from '../../api/problem-reasons.js';
import { DONE, routesOf } from '../../api/route.js';
import { IdParams, Time } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { isServed, playerUrl } from '../../player/page-settings.js';
import type { Services } from '../../services.js';
import { NO_ACCOUNT } from './shared.js';

const PlayerLink = z
  .object({
    /** Whether the daemon answers the address: `admin.playerPage.enabled`, `admin.playerPage.pac`. */
    isServed: z.boolean(),
    /** Time when the address was made; null: there is none. */
    createdAt: Time.nullable(),
    /** Only for PAC files: the daemon stores a hash of the player page's address, and not the address. */
    url: z.string().nullable(),
  })
  .meta({ id: 'PlayerLink' });

const NewPlayerLink = z
  .object({
    /**
     * The address of a player page is shown once. Its holder sees the account and may change what `admin.playerPage.mayChange`
     * lists.
     */
    url: z.string(),
    createdAt: Time,
    /** `browser`: the address begins with the host name of this request, because `admin.playerPage.url` is not set. */
    guess: z.enum(['browser']).nullable(),
  })
  .meta({ id: 'NewPlayerLink' });

const { route } = routesOf('Accounts');

const KINDS = {
  page: { path: 'player-link', name: 'PlayerLink', what: 'the player’s page' },
  pac: { path: 'pac-link', name: 'PacLink', what: 'the account’s PAC file' },
} as const satisfies Record<PlayerLinkKind, object>;

function routesFor<Kind extends PlayerLinkKind>(kind: Kind) {
  const { name, what, path: last } = KINDS[kind];
  const path = `/api/v1/accounts/{id}/${last}` as const;
  return [
    route(`GET ${path}`, `get${name}`, 'accounts:read', {
      summary: `Whether there is a secret address of ${what}.`,
      request: { params: IdParams },
      responses: { 200: { description: 'Since when.', schema: PlayerLink } },
      async handle({ params, ctx }, deps) {
        const account = accountOf(deps, params.id);
        if (!account) return NO_ACCOUNT;
        const link = await deps.playerLinks.get(account.id, kind);
        const body = {
          isServed: isServed(deps.playerPage, kind),
          createdAt: isoOrNull(link?.createdAt ?? null),
          url: link?.token ? playerUrl(deps.playerPage, ctx, kind, link.token) : null,
        };
        return { body };
      },
    }),
    route(`POST ${path}`, `create${name}`, 'accounts:write', {
      summary: `Makes a new secret address of ${what}; the previous one stops working.`,
      request: { params: IdParams },
      responses: { 201: { description: 'The address.', schema: NewPlayerLink } },
      problems: [409],
      async handle({ params, caller, ctx }, deps) {
        const account = accountOf(deps, params.id);
        if (!account) return NO_ACCOUNT;
        if (!isServed(deps.playerPage, kind)) return NOT_SERVED[kind];
        const created = await deps.playerLinks.create(account, kind, actorOf(caller));
        if (!created) return NO_ACCOUNT;
        const body = {
          url: playerUrl(deps.playerPage, ctx, kind, created.token),
          createdAt: iso(created.createdAt),
          guess: deps.playerPage.url === null ? 'browser' : null,
        };
        return { body };
      },
    }),
    route(`DELETE ${path}`, `revoke${name}`, 'accounts:write', {
      summary: `Revokes the secret address of ${what}.`,
      request: { params: IdParams },
      responses: { 204: { description: 'The address no longer works.' } },
      async handle({ params, caller }, deps) {
        const account = accountOf(deps, params.id);
        if (!account) return NO_ACCOUNT;
        const isRevoked = await deps.playerLinks.revoke(account, kind, actorOf(caller));
        return isRevoked ? DONE : NO_LINK;
      },
    }),
  ];
}

export const playerLinkRoutes = [...routesFor('page'), ...routesFor('pac')];

const NO_LINK: ProblemAnswer = { problem: 'not-found', ...because('no-player-link') };

const NOT_SERVED: Readonly<Record<PlayerLinkKind, ProblemAnswer>> = {
  page: { problem: 'conflict', ...because('no-player-page') },
  pac: { problem: 'conflict', ...because('no-pac') },
};

function accountOf({ accounts }: Services, id: string) {
  return accounts.get(id)?.account ?? null;
}
