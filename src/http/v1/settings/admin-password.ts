// /api/v1/settings/admin-password: the operator's own password.
import { z } from 'zod';
import {
  type AdminCredentials,
  MIN_ADMIN_PASSWORD_CHARACTERS,
} from '../../../core/auth/admin-credentials.js';
import type { ConsoleSessions } from '../../../core/auth/console-sessions.js';
import type { Log } from '../../../core/log.js';
import { TOO_MANY_ATTEMPTS } from '../../answer.js';
import { actorOf, sessionOf } from '../../caller.js';
import type { AdminAttempts } from '../../guards/attempts.js';
import { invalid } from '../problem.js';
import { routesOf } from '../route.js';

export interface AdminPasswordUses {
  readonly credentials: AdminCredentials;
  readonly consoleSessions: Pick<ConsoleSessions, 'keepOnly'>;
  readonly attempts: AdminAttempts;
  readonly log: Pick<Log, 'warn'>;
}

const { route } = routesOf<AdminPasswordUses>('Settings');

const PASSWORD_FAULTS = {
  'invalid-username': invalid('body.next', 'admin-username'),
  'invalid-password': invalid('body.next', 'password'),
  'short-password': invalid('body.next', 'short-password', { min: MIN_ADMIN_PASSWORD_CHARACTERS }),
} as const;

export const adminPasswordRoutes = [
  route(
    {
      method: 'PUT',
      path: '/api/v1/settings/admin-password',
      operationId: 'setAdminPassword',
      summary: 'Changes the admin password; every other console session ends.',
      access: 'operator',
      request: {
        body: z
          .object({ current: z.string().min(1).max(1_024), next: z.string().min(1).max(255) })
          .meta({ id: 'AdminPasswordChange' }),
      },
      responses: { 204: { description: 'Changed.' } },
      problems: [409],
    },
    async ({ body: { current, next }, caller }, { credentials, consoleSessions, attempts, log }) => {
      if (attempts.isFull(caller.address)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(caller.address);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      if (!credentials.verify(credentials.username(), current)) {
        await attempts.delay(caller.address);
        return invalid('body.current', 'present-password');
      }
      attempts.succeeded(caller.address);
      const set = await credentials.set(undefined, next, actorOf(caller));
      if (!set.ok) return PASSWORD_FAULTS[set.reason];
      const { password: givenBy } = await credentials.givenBy();
      if (givenBy !== undefined)
        log.warn({ givenBy }, 'admin password will be overwritten at the next start');
      await consoleSessions.keepOnly(sessionOf(caller));
      return { status: 204 };
    },
  ),
];
