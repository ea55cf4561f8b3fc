// /api/v1/settings/retention: how long the daemon keeps data.
import { z } from 'zod';
import type { ProblemAnswer } from '../../api/problem.js';
import { because } from '../../api/problem-reasons.js';
import { settingRoutes } from './setting-routes.js';

/** null: the configuration file's value applies. Days are whole days. */
const Retention = z
  .object({
    heartbeatDays: z.int().min(1).max(3_650),
    heartbeatsPerAccount: z.int().min(1).max(10_000_000),
    /** 0: sessions are not recorded, and no trace is possible. */
    sessionDays: z.int().min(0).max(3_650),
    runDays: z.int().min(1).max(3_650),
    loginDays: z.int().min(1).max(3_650),
    auditDays: z.int().min(1).max(3_650),
  })
  .meta({ id: 'Retention' });

export const retentionRoutes = settingRoutes({
  name: 'retention',
  schema: Retention,
  body: Retention.partial({ sessionDays: true }),
  get: { operationId: 'getRetention', summary: 'How long the daemon keeps data.', description: 'Retention.' },
  put: {
    operationId: 'setRetention',
    summary: 'Changes how long the daemon keeps data; older data is deleted within minutes.',
    description: 'As saved.',
  },
  present: ({ retention }) => ({ body: retention.current() }),
  save: ({ body, caller, by }, { retention }, otherVersion) =>
    retention.save(
      (stored) => ({ ...body, sessionDays: body.sessionDays ?? stored.sessionDays }),
      by,
      (stored) =>
        caller.scopes !== null && body.auditDays < stored.auditDays ? AUDIT_DAYS : otherVersion(stored),
    ),
});

/** Only the administrator may keep the audit log for less time. */
const AUDIT_DAYS: ProblemAnswer = { problem: 'wrong-scope', ...because('audit-days') };
