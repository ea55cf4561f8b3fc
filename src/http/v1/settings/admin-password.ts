// /api/v1/settings/admin-password: the caller's own password.
import { z } from 'zod';
import {
  type AdminCredentials,
  MIN_ADMIN_PASSWORD_CHARACTERS,
} from '../../../core/auth/admin-credentials.js';
import type { ConsoleSessions } from '../../../core/auth/console-sessions.js';
import type { Principals } from '../../../core/auth/principals.js';
import type { Log } from '../../../core/log.js';
import { TOO_MANY_ATTEMPTS } from '../../answer.js';
import { invalid } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { actorOf, keptSessionOf } from '../../caller.js';
import { type AdminAttempts, uncountUnchecked } from '../../guards/attempts.js';
import { principalOf } from '../second-factor.js';

export interface AdminPasswordDeps {
  readonly credentials: Pick<AdminCredentials, 'givenBy'>;
  readonly principals: Pick<Principals, 'get'>;
  readonly consoleSessions: Pick<ConsoleSessions, 'keepOnly'>;
  readonly attempts: AdminAttempts;
  readonly log: Pick<Log, 'warn'>;
}

const { route } = routesOf<AdminPasswordDeps>('Settings');

const PASSWORD_FAULTS = {
  'wrong-password': invalid('body.current', 'present-password'),
  'invalid-password': invalid('body.next', 'password'),
  'short-password': invalid('body.next', 'short-password', { min: MIN_ADMIN_PASSWORD_CHARACTERS }),
} as const;

export const adminPasswordRoutes = [
  route(
    {
      method: 'PUT',
      path: '/api/v1/settings/admin-password',
      operationId: 'setAdminPassword',
      summary: 'Changes the caller’s own password; the caller’s other console sessions end.',
      access: 'person',
      request: {
        body: z
          .object({ current: z.string().min(1).max(1_024), next: z.string().min(1).max(255) })
          .meta({ id: 'AdminPasswordChange' }),
      },
      responses: { 204: { description: 'Changed.' } },
      problems: [409],
    },
    async ({ body: { current, next }, caller }, deps) => {
      const { credentials, consoleSessions, attempts, log } = deps;
      const principal = principalOf(deps, caller);
      if (attempts.isFull(caller.address)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(caller.address);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      const isRight = principal.verifyPassword(current);
      if (!(await uncountUnchecked(attempts, caller.address, isRight))) {
        await attempts.delay(caller.address);
        return PASSWORD_FAULTS['wrong-password'];
      }
      attempts.succeeded(caller.address);
      const keptSession = keptSessionOf(caller, principal.fingerprint());
      const refusal = await principal.setPassword(current, next, actorOf(caller));
      if (refusal) return PASSWORD_FAULTS[refusal];
      const { password: givenBy } = await credentials.givenBy();
      if (givenBy !== undefined && caller.operator === null)
        log.warn({ givenBy }, 'admin password will be overwritten at the next start');
      await consoleSessions.keepOnly(caller.operator?.id ?? null, keptSession);
      return { status: 204 };
    },
  ),
];
