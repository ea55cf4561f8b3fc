// /api/v1/accounts/{id}/subscription: the secret link from which client programs configure themselves, and which is the player's page.
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import type { AccountLink } from '../../../core/accounts/account.js';
import { newSubscriptionToken, secretsOf } from '../../../core/accounts/player/subscription.js';
import { iso, isoOrNull } from '../../../core/clock.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { Time } from '../../api/schemas.js';
import { type AdminState, actorOf } from '../../caller.js';
import { playerOrigin, subscriptionUrl } from '../../player/page-settings.js';
import type { Services } from '../../services.js';
import { NO_ACCOUNT, problemOf } from './shared.js';

const Subscription = z
  .object({
    /** Whether the daemon answers links: `admin.playerPage.enabled`. */
    isServed: z.boolean(),
    /** null: there is no link. */
    createdAt: Time.nullable(),
    /** The account has an address of an earlier version, `/player/…` or `/pac/…`, which still works. */
    hasFormerAddress: z.boolean(),
  })
  .meta({ id: 'Subscription' });

export const NewSubscription = z
  .object({
    /**
     * Shown once: the daemon stores only a hash. Its holder can use and see the account, and change what `admin.playerPage.mayChange`
     * lists.
     */
    url: z.string(),
    createdAt: Time,
    /** `browser`: the link begins with the host name of this request, because `admin.playerPage.url` is not set. */
    guess: z.enum(['browser']).nullable(),
  })
  .meta({ id: 'NewSubscription' });

const { route } = routesOf('Accounts');
const path = '/api/v1/accounts/{id}/subscription';

export const subscriptionRoutes = [
  route(`GET ${path}`, 'getSubscription', 'accounts:read', {
    summary: 'Whether the account has a link for client programs.',
    success: [200, 'Since when.', Subscription],
    async handle({ params }, deps) {
      const account = deps.accounts.get(params.id)?.account;
      if (!account) return NO_ACCOUNT;
      const body = {
        isServed: deps.playerPage.enabled,
        createdAt: isoOrNull(account.link?.createdAt ?? null),
        hasFormerAddress: await deps.playerLinks.has(account.id),
      };
      return { body };
    },
  }),
  route(`POST ${path}`, 'createSubscription', 'accounts:write', {
    summary:
      'Makes a new link for client programs; every earlier one stops working, and the sessions of its clients end.',
    success: [201, 'The link.', NewSubscription],
    problems: [409],
    async handle({ params, caller, ctx }, deps) {
      if (!deps.playerPage.enabled) return NOT_SERVED;
      const made = newLink(deps, ctx);
      const changed = await deps.accounts.patch(params.id, () => ({ link: made.link }), actorOf(caller));
      return changed.ok ? { body: made.shown } : problemOf(changed);
    },
  }),
  route(`DELETE ${path}`, 'revokeSubscription', 'accounts:write', {
    summary:
      'Revokes the link for client programs and the addresses of earlier versions, and ends the sessions of its clients.',
    success: [204, 'None of them works any more.'],
    async handle({ params, caller }, deps) {
      const account = deps.accounts.get(params.id)?.account;
      if (!account) return NO_ACCOUNT;
      const by = actorOf(caller);
      if (account.link === null) return (await deps.playerLinks.revoke(account, by)) ? DONE : NO_LINK;
      const changed = await deps.accounts.patch(account.id, () => ({ link: null }), by);
      return changed.ok ? DONE : problemOf(changed);
    },
  }),
];

/** A link to store, and what is shown of it once. */
export function newLink(
  { playerPage, now }: Pick<Services, 'playerPage' | 'now'>,
  ctx: ParameterizedContext<AdminState>,
): { readonly link: AccountLink; readonly shown: z.infer<typeof NewSubscription> } {
  const token = newSubscriptionToken();
  const createdAt = now();
  const url = subscriptionUrl(playerOrigin(playerPage, ctx), token);
  return {
    link: { hash: secretsOf(token).hash, createdAt },
    shown: { url, createdAt: iso(createdAt), guess: playerPage.url === null ? 'browser' : null },
  };
}

const NO_LINK: ProblemAnswer = failure('not-found', 'no-subscription');
const NOT_SERVED: ProblemAnswer = failure('conflict', 'no-player-page');
