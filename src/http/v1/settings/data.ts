// /api/v1/settings/retention, /api/v1/settings/effective and /api/v1/backup: how long the daemon keeps data, the configuration in
// force, and a copy of all data.
import { z } from 'zod';
import { auditRecord } from '../../../core/audit/audit.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { Bytes, Count, component, Time } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { settingRoutes } from './setting-routes.js';

/** null: the configuration file's value applies. Days are whole days. */
const Retention = component('Retention', {
  heartbeatDays: z.int().min(1).max(3_650),
  heartbeatsPerAccount: z.int().min(1).max(10_000_000),
  /** 0: sessions are not recorded, and no trace is possible. */
  sessionDays: z.int().min(0).max(3_650),
  runDays: z.int().min(1).max(3_650),
  loginDays: z.int().min(1).max(3_650),
  auditDays: z.int().min(1).max(3_650),
});

export const retentionRoutes = settingRoutes({
  name: 'retention',
  schema: Retention,
  body: Retention.partial({ sessionDays: true }),
  get: ['getRetention', 'How long the daemon keeps data.', 'Retention.'],
  put: [
    'setRetention',
    'Changes how long the daemon keeps data; older data is deleted within minutes.',
    'As saved.',
  ],
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
const AUDIT_DAYS: ProblemAnswer = failure('wrong-scope', 'audit-days');

const REFUSALS = { busy: 'backup-busy', 'not-a-file': 'backup-postgres' } as const;

const { route } = routesOf('Settings');

export const backupRoutes = [
  route('GET /api/v1/backup', 'downloadBackup', 'administrator', {
    summary: 'A complete copy of the database, for `pulsegate restore`; it contains password hashes.',
    needsConfirmation: true,
    success: [200, 'The file.', { contentType: 'application/vnd.sqlite3' }],
    problems: [409],
    async handle({ caller }, { backup, audit, now }) {
      const file = await backup();
      if (typeof file === 'string') return failure('conflict', REFUSALS[file]);
      const object = { type: 'settings', id: 'backup', name: 'backup' } as const;
      try {
        await audit.add([auditRecord(actorOf(caller), 'backup.download', object)]);
      } catch (error) {
        // The file has no name any more, and would take its space until the daemon stops.
        file.destroy();
        throw error;
      }
      const stamp = new Date(now()).toISOString().slice(0, 19).replaceAll(':', '');
      return {
        body: file,
        headers: {
          'Content-Type': 'application/vnd.sqlite3',
          'Content-Disposition': `attachment; filename="pulsegate-${stamp}Z.db"`,
        },
      };
    },
  }),
];

const EffectiveConfig = component('EffectiveConfig', {
  program: z.object({
    version: z.string(),
    /** The version of the installed files; differs when they were upgraded and the daemon was not restarted. */
    installedVersion: z.string(),
    /** The commit from which the running package was built, and its time; null: not a package. */
    build: z.object({ commit: z.string(), date: Time }).nullable(),
    /** Whether the package is so old that there is probably a newer one. Nothing asks the network. */
    isOld: z.boolean(),
  }),
  configFile: z.string().nullable(),
  entries: z.array(
    z.object({
      /** The key, such as `socks.handshakeTimeout`. */
      path: z.string(),
      /** The value as written in the configuration file. Secrets never appear. */
      value: z.string(),
      /** The value without any configuration. */
      default: z.string(),
      source: z.enum(['default', 'file', 'environment', 'flag', 'console']),
      isSecret: z.boolean(),
    }),
  ),
  database: z.object({ client: z.string(), bytes: Bytes.nullable(), heartbeats: Count }),
  startedAt: Time,
  /** Keys whose value in file or environment has changed and takes effect only after a restart. */
  needsRestart: z.array(z.string()),
  /** The error of the present configuration, with which a restart would fail; null: none. */
  problem: z.string().nullable(),
});

export type Effective = z.infer<typeof EffectiveConfig>;

export const effectiveRoutes = [
  route('GET /api/v1/settings/effective', 'getEffectiveConfig', 'settings:read', {
    summary: 'The configuration in force, key by key, and where each value comes from.',
    success: [200, 'The configuration.', EffectiveConfig],
    handle: async (_input, { effective }) => ({ body: await effective() }),
  }),
];
