// The password of an account with its link and client formats. The API shows it when it is made, or when the caller knows it.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { verifyPassword } from '../../../core/accounts/access/password.js';
import type { ChangeOf } from '../../../core/accounts/accounts.js';
import { clientText, clientTexts } from '../../../core/accounts/player/client-formats.js';
import { socksLink } from '../../../core/accounts/player/proxy-link.js';
import { invalid } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { IdParams } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { LinkServices } from '../../services.js';
import { linkAddressFor } from '../settings/players.js';
import { Password } from './field-schemas.js';
import { type Credentials, CredentialsInFormats } from './schemas.js';
import { NO_ACCOUNT, problemOf } from './shared.js';
import { NewSubscription, newLink } from './subscription.js';

const { route } = routesOf('Accounts');

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
      body: z
        .object({
          password: Password.optional(),
          /** The present link goes on working otherwise: whoever has it can use the account and may be able to set another password. */
          replaceSubscription: z.boolean().default(false),
        })
        .meta({ id: 'PasswordReset' }),
    },
    success: [200, 'The credentials, shown once.', ResetCredentials],
    async handle({ params: { id }, body, caller, ctx }, deps) {
      const password = body.password ?? randomPassword();
      const by = actorOf(caller);
      const made = deps.playerPage.enabled ? newLink(deps, ctx) : null;
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
    request: { body: z.object({ password: Password }).meta({ id: 'KnownPassword' }) },
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
export function randomPassword(): string {
  return randomBytes(15).toString('base64url');
}

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
