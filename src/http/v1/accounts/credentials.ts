// The password of an account with its link and client formats, which the API shows when it is made or when the caller knows it; and
// /api/v1/accounts/{id}/subscription, the secret link from which client programs configure themselves, and which is the player’s page.
import { randomBytes } from 'node:crypto';
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import { verifyPassword } from '../../../core/accounts/access/password.js';
import type { AccountLink } from '../../../core/accounts/account.js';
import type { ChangeOf } from '../../../core/accounts/accounts.js';
import { clientText, clientTexts } from '../../../core/accounts/player/client-formats.js';
import { socksLink } from '../../../core/accounts/player/proxy-link.js';
import { newSubscriptionToken, secretsOf } from '../../../core/accounts/player/subscription.js';
import { iso, isoOrNull } from '../../../core/time/clock.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { DONE, type Kept, routesOf } from '../../api/route.js';
import { component, IdParams, Time } from '../../api/schemas.js';
import { type AdminState, actorOf } from '../../caller.js';
import { playerOrigin, subscriptionUrl } from '../../player/subscription.js';
import type { LinkServices, Services } from '../../services.js';
import { linkAddressFor } from '../settings/players.js';
import { Password } from './field-schemas.js';
import { type Credentials, CredentialsInFormats } from './schemas.js';
import { NO_ACCOUNT, problemOf } from './shared.js';

const Subscription = component('Subscription', {
  /** Whether the daemon answers links: `admin.playerPage.enabled`. */
  isServed: z.boolean(),
  /** null: there is no link. */
  createdAt: Time.nullable(),
  /** The account has an address of an earlier version, `/player/…` or `/pac/…`, which still works. */
  hasFormerAddress: z.boolean(),
});

export const NewSubscription = component('NewSubscription', {
  /**
   * Shown once: the daemon stores only a hash. Its holder can use and see the account, and change what `admin.playerPage.mayChange`
   * lists.
   */
  url: z.string(),
  createdAt: Time,
  /** `browser`: the link begins with the host name of this request, because `admin.playerPage.url` is not set. */
  guess: z.enum(['browser']).nullable(),
});

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
    async handle({ params, caller, kept, ctx }, deps) {
      if (!deps.playerPage.enabled) return NOT_SERVED;
      const made = newLink(deps, kept, ctx);
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
  kept: Kept,
  ctx: ParameterizedContext<AdminState>,
): { readonly link: AccountLink; readonly shown: z.infer<typeof NewSubscription> } {
  const token = kept.secret('link', newSubscriptionToken);
  const createdAt = Number(kept.secret('link since', () => String(now())));
  const url = subscriptionUrl(playerOrigin(playerPage, ctx), token);
  return {
    link: { hash: secretsOf(token).hash, createdAt },
    shown: { url, createdAt: iso(createdAt), guess: playerPage.url === null ? 'browser' : null },
  };
}

const NO_LINK: ProblemAnswer = failure('not-found', 'no-subscription');
const NOT_SERVED: ProblemAnswer = failure('conflict', 'no-player-page');

const ResetCredentials = CredentialsInFormats.extend({
  /** The link in place of the one that the account had; null: none was made. */
  subscription: NewSubscription.nullable(),
}).meta({ id: 'ResetCredentials' });

export const credentialRoutes = [
  route('POST /api/v1/accounts/{id}/password', 'resetPassword', 'accounts:write', {
    summary:
      'Sets the given password or a random one; live sessions end. The link for client programs is replaced only if asked.',
    request: {
      params: IdParams,
      body: component('PasswordReset', {
        password: Password.optional(),
        /** The present link goes on working otherwise: whoever has it can use the account and may be able to set another password. */
        replaceSubscription: z.boolean().default(false),
      }),
    },
    success: [200, 'The credentials, shown once.', ResetCredentials],
    async handle({ params: { id }, body, caller, kept, ctx }, deps) {
      const password = body.password ?? kept.secret('password', randomPassword);
      const by = actorOf(caller);
      const made = deps.playerPage.enabled ? newLink(deps, kept, ctx) : null;
      const changeOf: ChangeOf = ({ link }) => ({
        password,
        link: body.replaceSubscription && link !== null ? (made?.link ?? null) : undefined,
      });
      const changed = await deps.accounts.patch(id, changeOf, by);
      if (!changed.ok) return problemOf(changed);
      const { username, link } = changed.account;
      if (body.replaceSubscription && link === null) await deps.playerLinks.revoke(changed.account, by);
      const subscription = link !== null && link.hash === made?.link.hash ? made.shown : null;
      const shown = credentialsInFormats(deps, ctx.hostname, { id, username, password });
      return { body: { ...shown, subscription } };
    },
  }),
  route('POST /api/v1/accounts/{id}/link', 'getCredentials', 'accounts:write', {
    summary:
      'Link and client formats for the current password, which the request contains: the daemon stores only its hash.',
    request: { body: component('KnownPassword', { password: Password }) },
    success: [200, 'The same as at creation.', CredentialsInFormats],
    async handle({ params, body: { password }, ctx }, deps) {
      const view = deps.accounts.get(params.id);
      if (!view) return NO_ACCOUNT;
      const { id, username, passwordHash } = view.account;
      if (!verifyPassword(password, passwordHash)) return invalid('body.password', 'account-password');
      return { body: credentialsInFormats(deps, ctx.hostname, { id, username, password }) };
    },
  }),
];

/** 15 bytes are 20 characters and 120 bits. No character needs escaping in a link. */
export const randomPassword = (): string => randomBytes(15).toString('base64url');

interface Shown {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export function credentials(deps: LinkServices, hostname: string, account: Shown): Credentials {
  const access = { ...account, ...linkAddressFor(deps, hostname) };
  return { ...account, link: socksLink(access, access), plain: clientText('plain', access) };
}

/** Credentials with every client format, for one account only: the formats are long. */
export function credentialsInFormats(
  deps: LinkServices,
  hostname: string,
  account: Shown,
): Record<string, unknown> {
  const formats = clientTexts({ ...account, ...linkAddressFor(deps, hostname) });
  return { ...credentials(deps, hostname, account), formats };
}
