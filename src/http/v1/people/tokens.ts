// /api/v1/tokens: API tokens, with which programs authenticate.
import { z } from 'zod';
import type { ApiToken } from '../../../core/auth/api-tokens.js';
import { fromIsoOrNull, withTimes } from '../../../core/time/clock.js';
import { failure, invalid } from '../../api/problem.js';
import { DONE, routesOf, Scope } from '../../api/route.js';
import { component, Guid, listOf, Time, TimeIn } from '../../api/schemas.js';
import { actorOf, type Caller } from '../../caller.js';
import type { Services } from '../../services.js';

const Token = component('Token', {
  id: Guid,
  name: z.string(),
  /** The first characters, which identify the token in lists. */
  prefix: z.string(),
  scopes: z.array(Scope),
  createdAt: Time,
  expiresAt: Time.nullable(),
  lastUsedAt: Time.nullable(),
  lastUsedFrom: z.string().nullable(),
  /** Name of the operator who made the token; null: the administrator. */
  operator: z.string().nullable(),
});

const NewToken = component('NewToken', {
  name: z.string().trim().min(1).max(100),
  scopes: z.array(Scope).min(1),
  expiresAt: TimeIn.nullable().default(null),
});

const { route } = routesOf('Tokens');

export const tokenRoutes = [
  route('GET /api/v1/tokens', 'listTokens', 'person', {
    summary: 'The caller’s API tokens without their secrets; the administrator sees all tokens.',
    success: [200, 'All of them.', listOf(Token, 'Tokens')],
    async handle({ caller }, deps) {
      const items = deps.apiTokens.list(caller.operator?.id).map((token) => presentToken(deps, token));
      return { body: { items } };
    },
  }),
  route('POST /api/v1/tokens', 'createToken', 'person', {
    summary: 'Creates a token with scopes that the caller has; only this answer contains its secret.',
    needsConfirmation: true,
    request: { body: NewToken },
    success: [
      201,
      'Send it as `Authorization: Bearer …`.',
      component('CreatedToken', { token: Token, secret: z.string() }),
    ],
    async handle({ body, caller }, deps) {
      const { apiTokens, changes, now } = deps;
      const expiresAt = fromIsoOrNull(body.expiresAt);
      if (expiresAt !== null && expiresAt <= now()) return invalid('body.expiresAt', 'past-time');
      const scopes = [...new Set(body.scopes)];
      const lacking = scopes.find((scope) => !hasScope(caller, scope));
      if (lacking) return failure('wrong-role', 'own-role-lacks-scope', { scope: lacking });
      const operatorId = caller.operator?.id ?? null;
      const created = await apiTokens.create(
        { name: body.name, scopes, expiresAt, operatorId },
        actorOf(caller),
      );
      changes.notify('tokens');
      if (!created) return failure('conflict', 'too-many-tokens');
      return { body: { token: presentToken(deps, created.token), secret: created.secret } };
    },
  }),
  route('DELETE /api/v1/tokens/{id}', 'revokeToken', 'person', {
    summary: 'Revokes one of the caller’s tokens at once; the administrator may revoke any token.',
    success: [204, 'Revoked.'],
    async handle({ params, caller }, { apiTokens, changes }) {
      const isRevoked = await apiTokens.revoke(params.id, actorOf(caller), caller.operator?.id);
      if (!isRevoked) return failure('not-found', 'no-token');
      changes.notify('tokens');
      return DONE;
    },
  }),
];

const hasScope = ({ scopes }: Caller, scope: Scope): boolean => scopes === null || scopes.includes(scope);

function presentToken({ operators }: Pick<Services, 'operators'>, token: ApiToken) {
  const { id, name, prefix, scopes, createdAt, expiresAt, lastUsedAt, lastUsedFrom, operatorId } = token;
  const shown = { id, name, prefix, scopes, createdAt, expiresAt, lastUsedAt, lastUsedFrom };
  return {
    ...withTimes(shown, 'createdAt', 'expiresAt', 'lastUsedAt'),
    operator: operatorId === null ? null : (operators.get(operatorId)?.name ?? operatorId),
  };
}
