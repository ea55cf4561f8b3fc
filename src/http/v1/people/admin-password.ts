// /api/v1/settings/admin-password: the caller's own password.
import { z } from 'zod';
import { MIN_PASSWORD_CHARACTERS } from '../../../core/auth/people-passwords.js';
import { invalid } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { RevokeTokens } from '../../api/schemas.js';
import { actorOf, keptSessionOf } from '../../caller.js';
import { principalOf, proofProblem } from './second-factor.js';

const { route } = routesOf('Settings');

const PASSWORD_FAULTS = {
  'wrong-password': invalid('body.current', 'present-password'),
  'invalid-password': invalid('body.next', 'password'),
  'short-password': invalid('body.next', 'short-password', { min: MIN_PASSWORD_CHARACTERS }),
} as const;

export const adminPasswordRoutes = [
  route('PUT /api/v1/settings/admin-password', 'setAdminPassword', 'person', {
    summary:
      'Changes the caller’s own password; the caller’s other console sessions end, and its tokens are revoked.',
    request: {
      body: z
        .object({
          current: z.string().min(1).max(1_024),
          next: z.string().min(1).max(255),
          revokeTokens: RevokeTokens,
        })
        .meta({ id: 'AdminPasswordChange' }),
    },
    success: [204, 'Changed.'],
    problems: [409],
    async handle({ body: { current, next, revokeTokens }, caller }, deps) {
      const { credentials, consoleSessions, apiTokens, attempts, changes, log } = deps;
      const principal = principalOf(deps, caller);
      const refused = await proofProblem(attempts, caller.address, () => principal.verifyPassword(current));
      if (refused) return refused === 'wrong' ? PASSWORD_FAULTS['wrong-password'] : refused;
      const keptSession = keptSessionOf(caller, principal.fingerprint());
      const refusal = await principal.setPassword(current, next, actorOf(caller), revokeTokens);
      if (refusal) return PASSWORD_FAULTS[refusal];
      const { password: givenBy } = await credentials.givenBy();
      if (givenBy !== undefined && caller.operator === null)
        log.warn({ givenBy }, 'admin password will be overwritten at the next start');
      await consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
      await apiTokens.reload();
      changes.notify('tokens');
      return DONE;
    },
  }),
];
