// /api/v1/settings/retention: how long the daemon keeps data.
import { z } from 'zod';
import type { RetentionSetting } from '../../../core/settings/retention.js';
import { etagOf, refuseChanged } from '../../api/etag.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { because } from '../../api/problem-reasons.js';
import { type Answered, routesOf } from '../../api/route.js';
import { actorOf } from '../../caller.js';

/** null: the configuration file's value applies. Days are whole days. */
const Retention = z
  .object({
    heartbeatDays: z.int().min(1).max(3_650),
    heartbeatsPerAccount: z.int().min(1).max(10_000_000),
    runDays: z.int().min(1).max(3_650),
    loginDays: z.int().min(1).max(3_650),
    auditDays: z.int().min(1).max(3_650),
  })
  .meta({ id: 'Retention' });

const { route } = routesOf('Settings');

export const retentionRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/settings/retention',
      operationId: 'getRetention',
      summary: 'How long the daemon keeps data.',
      access: 'settings:read',
      etag: true,
      request: {},
      responses: { 200: { description: 'Retention.', schema: Retention } },
    },
    async (_input, { retention }) => shownRetention(retention),
  ),
  route(
    {
      method: 'PUT',
      path: '/api/v1/settings/retention',
      operationId: 'setRetention',
      summary: 'Changes how long the daemon keeps data; older data is deleted within minutes.',
      access: 'settings:write',
      etag: true,
      request: { body: Retention },
      responses: { 200: { description: 'As saved.', schema: Retention } },
      problems: [412],
    },
    async ({ body, caller, ifMatch }, { retention, onSettingChanged }) => {
      const refused = await retention.save(body, actorOf(caller), (stored) => {
        const isLess = body.auditDays < stored.auditDays;
        if (caller.scopes !== null && isLess) return AUDIT_DAYS;
        return refuseChanged(ifMatch, etagOf(stored));
      });
      if (refused) return refused;
      onSettingChanged();
      return shownRetention(retention);
    },
  ),
];

/** Only the administrator may keep the audit log for less time. */
const AUDIT_DAYS: ProblemAnswer = { problem: 'wrong-scope', ...because('audit-days') };

function shownRetention(retention: RetentionSetting): Answered {
  return { status: 200, body: retention.current(), headers: { ETag: etagOf(retention.current()) } };
}
